#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "runner/arms/arm_build.h"

namespace numabench {
namespace {

// More of them say no more; the whole texts are in the arms' records.
constexpr std::size_t kMostWords = 6;

/// The words of `text` that `other` has not, without the shell's quotes, in their order.
std::vector<std::string> words_beyond(const std::string& text, const std::string& other) {
  const auto words_of = [](std::string line) {
    std::erase(line, '\'');
    std::istringstream in(line);
    return std::vector<std::string>{std::istream_iterator<std::string>(in), {}};
  };
  const std::vector<std::string> known = words_of(other);
  std::vector<std::string> beyond = words_of(text);
  std::erase_if(beyond, [&](const std::string& word) {
    return std::ranges::find(known, word) != known.end();
  });
  return beyond;
}

std::string shortened(const std::vector<std::string>& words) {
  if (words.size() <= kMostWords) return fmt::format("{}", fmt::join(words, " "));
  const std::vector<std::string> first(words.begin(), words.begin() + kMostWords);
  return fmt::format("{} and {} more", fmt::join(first, " "), words.size() - kMostWords);
}

void compare(const ArmBuild& first, const ArmBuild& other, const char* what,
             std::string ArmBuild::*member, std::vector<std::string>& differences) {
  if (first.*member == other.*member) return;
  std::string sides;
  for (const auto& [arm, beyond] :
       {std::pair{&first, words_beyond(first.*member, other.*member)},
        std::pair{&other, words_beyond(other.*member, first.*member)}}) {
    if (beyond.empty()) continue;
    sides +=
        fmt::format("{}only '{}' has {}", sides.empty() ? "" : ", ", arm->arm, shortened(beyond));
  }
  if (sides.empty()) sides = "the same words in another order";
  for (const ArmBuild* arm : {&first, &other}) {
    if ((arm->*member).empty()) sides = fmt::format("that of '{}' is not known", arm->arm);
  }
  differences.push_back(
      fmt::format("arms '{}' and '{}' differ in their {}: {}", first.arm, other.arm, what, sides));
}

}  // namespace

std::vector<std::string> flag_differences(const std::vector<ArmBuild>& builds) {
  std::vector<std::string> differences;
  const ArmBuild* first = nullptr;
  for (const ArmBuild& build : builds) {
    if (!build.failure.empty()) continue;
    if (first == nullptr) {
      first = &build;
      continue;
    }
    compare(*first, build, "compiler", &ArmBuild::compiler, differences);
    compare(*first, build, "compiler flags", &ArmBuild::cflags, differences);
    compare(*first, build, "configuration", &ArmBuild::configuration, differences);
    if (first->libnuma != build.libnuma) {
      const ArmBuild& with = first->libnuma ? *first : build;
      const ArmBuild& without = first->libnuma ? build : *first;
      differences.push_back(
          fmt::format("arm '{}' is built with libnuma and arm '{}' is not", with.arm, without.arm));
    }
  }
  return differences;
}

}  // namespace numabench
