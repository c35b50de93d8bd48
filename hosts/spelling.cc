#include "hosts/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace numabench {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one
// each. Three rows of the dynamic program suffice, since a swap looks back two.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1), previous(to.size() + 1), current(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[to.size()];
}

// A third of the letters may be wrong, always one; but never all of them.
bool is_near(std::size_t distance, std::size_t length) {
  return distance <= std::max<std::size_t>(1, length / 3) && distance < length;
}

}  // namespace

std::string closest_match(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = lower_case(word);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    if (!is_near(distance, std::max(word.size(), candidate.size()))) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string match = closest_match(word, candidates);
  if (!match.empty()) return fmt::format("did you mean '{}'?", match);
  return fmt::format("known: {}",
                     candidates.empty() ? "none" : fmt::to_string(fmt::join(candidates, ", ")));
}

}  // namespace numabench
