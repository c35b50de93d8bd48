#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "reports/arm_facts.h"
#include "reports/formats/grid.h"
#include "reports/formats/text_width.h"

namespace numabench {
namespace {

constexpr std::size_t kReasonLimit = 200;
constexpr std::size_t kShortCommit = 12;
constexpr std::size_t kShortBuildId = 12;
constexpr std::size_t kShortPatchHash = 8;
constexpr std::size_t kCommitDigits = 40;

struct BuiltArm {
  std::string name;
  ArmFacts facts;
};

/// "git URL 0123…" with the commit, or a tarball's SHA-256, shortened.
std::string short_source(const std::string& source) {
  std::string result;
  std::istringstream words(source);
  for (std::string word; words >> word;) {
    const bool hash = word.size() >= kCommitDigits &&
                      std::ranges::all_of(word, [](unsigned char c) { return std::isxdigit(c); });
    if (!result.empty()) result += ' ';
    result += hash ? word.substr(0, kShortCommit) : word;
  }
  return result;
}

std::string or_absent(const std::string& text) { return text.empty() ? kAbsent : text; }

std::string describe_patch(const PatchFacts& patch) {
  return fmt::format("{} ({})", patch.name, patch.sha256.substr(0, kShortPatchHash));
}

void add_rows(Grid& grid, const BuiltArm& arm) {
  const ArmFacts& facts = arm.facts;
  GridRow row;
  row.cells = {arm.name};
  if (!facts.failure.empty()) {
    row.style = GridRow::Style::kProblem;
    row.message = "FAILED: " + one_line(facts.failure, kReasonLimit);
    grid.rows.push_back(std::move(row));
    return;
  }
  row.cells.insert(row.cells.end(),
                   {or_absent(facts.version), or_absent(short_source(facts.source)),
                    or_absent(facts.build_id.substr(0, kShortBuildId)),
                    facts.patches.empty() ? kAbsent : describe_patch(facts.patches.front())});
  grid.rows.push_back(std::move(row));
  for (std::size_t i = 1; i < facts.patches.size(); ++i) {
    GridRow more;
    more.repeats_first = true;
    more.cells = {arm.name, "", "", "", describe_patch(facts.patches[i])};
    grid.rows.push_back(std::move(more));
  }
}

/// Once for all arms where they agree, as they should.
void add_footnotes(Grid& grid, const std::vector<BuiltArm>& arms, const char* what,
                   std::string ArmFacts::*member) {
  std::vector<std::pair<std::string, std::string>> known;  // arm, text
  for (const BuiltArm& arm : arms) {
    if (const std::string& text = arm.facts.*member; !text.empty())
      known.push_back({arm.name, text});
  }
  if (known.empty()) return;
  const bool equal = std::ranges::all_of(
      known, [&](const auto& entry) { return entry.second == known.front().second; });
  if (equal) known = {{"all arms", known.front().second}};
  for (const auto& [arm, text] : known) {
    grid.footnotes.push_back(fmt::format("{} ({}): {}", what, arm, text));
  }
}

void add_grid(std::vector<Grid>& grids, const std::string& title,
              const std::vector<ArmRecord>& records) {
  std::vector<BuiltArm> arms;
  for (const ArmRecord& record : records) {
    if (auto facts = arm_facts(record)) arms.push_back({record.name, std::move(*facts)});
  }
  if (arms.empty()) return;
  Grid& grid = grids.emplace_back();
  grid.title = title;
  grid.label_columns = 1;
  grid.columns = {{"arm", false},
                  {"version", false},
                  {"source", false},
                  {"build-id", false},
                  {"patches (SHA-256)", false}};
  for (const BuiltArm& arm : arms) add_rows(grid, arm);
  add_footnotes(grid, arms, "compiler", &ArmFacts::compiler);
  add_footnotes(grid, arms, "flags", &ArmFacts::cflags);
}

}  // namespace

std::vector<Grid> arms_grids(const Comparison& comparison) {
  std::vector<Grid> grids;
  if (comparison.before) add_grid(grids, "Arms before", comparison.before_arms);
  add_grid(grids, comparison.before ? "Arms after" : "Arms", comparison.arms);
  return grids;
}

}  // namespace numabench
