#include "reports/comparison_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "hosts/error.h"

namespace numabench {
namespace {

bool has_kind(const std::vector<std::string>& texts, const std::string& kind) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return warning_kind(text) == kind; });
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

ComparisonValue summarize_metric(const std::vector<RunRecord>& runs, const std::string& metric) {
  ComparisonValue result;
  result.metric = metric;
  std::vector<double> measured;
  for (const RunRecord& run : runs) {
    if (run.status != RunStatus::kOk) continue;
    for (const MetricValue& value : run.values) {
      if (value.metric != metric) continue;
      if (value.value) {
        measured.push_back(*value.value);
      } else if (result.reason.empty()) {
        result.reason = value.reason;
      }
    }
  }
  result.summary = summarize(std::move(measured));
  if (result.summary) {
    result.reason.clear();
  } else if (result.reason.empty()) {
    result.reason = "not recorded";
  }
  return result;
}

/// Runs that went wrong in the same way: their reasons differ in numbers only, such as a pid.
struct LeftOut {
  RunStatus status = RunStatus::kFailed;
  std::string reason;  ///< the first one's
  int count = 0;
};

/// By the first of each kind. An interrupted run says nothing about its cell, a failed or void one
/// does.
std::vector<LeftOut> runs_left_out(const std::vector<RunRecord>& runs) {
  std::vector<LeftOut> kinds;
  for (const RunRecord& run : runs) {
    if (run.status != RunStatus::kFailed && run.status != RunStatus::kVoid) continue;
    const auto known = std::ranges::find_if(kinds, [&](const LeftOut& kind) {
      return kind.status == run.status && warning_kind(kind.reason) == warning_kind(run.reason);
    });
    LeftOut& kind =
        known == kinds.end() ? kinds.emplace_back(LeftOut{run.status, run.reason}) : *known;
    ++kind.count;
  }
  return kinds;
}

std::string describe_problem(const std::vector<RunRecord>& runs) {
  if (runs.empty()) return "NOT RUN";
  const std::vector<LeftOut> kinds = runs_left_out(runs);
  if (kinds.empty()) {
    return fmt::format("{}: {}", upper(to_string(runs.back().status)), runs.back().reason);
  }
  std::vector<std::string> texts;
  for (const LeftOut& kind : kinds) {
    const std::string times =
        kinds.size() > 1 ? fmt::format(" ({} of {})", kind.count, runs.size()) : "";
    texts.push_back(fmt::format("{}: {}{}", upper(to_string(kind.status)), kind.reason, times));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

void warn_of_runs_left_out(ComparisonRow& row, const std::vector<RunRecord>& runs) {
  for (const LeftOut& kind : runs_left_out(runs)) {
    row.warnings.push_back(fmt::format("{} of {} runs left out: {}: {}", kind.count, runs.size(),
                                       to_string(kind.status), kind.reason));
  }
}

void collect_warnings(ComparisonRow& row, const std::vector<RunRecord>& runs) {
  for (const RunRecord& run : runs) {
    if (run.status != RunStatus::kOk) continue;
    for (const EventRecord& event : run.events) {
      if (event.severity != "warning") continue;
      if (has_kind(row.warnings, warning_kind(event.text))) continue;
      row.warnings.push_back(event.text);
    }
  }
}

/// The rows that have a result: only these can bear a warning.
std::vector<ComparisonRow*> rows_with_result(Comparison& comparison) {
  std::vector<ComparisonRow*> rows;
  for (ComparisonTable& table : comparison.tables) {
    for (ComparisonRow& row : table.rows) {
      if (row.problem.empty()) rows.push_back(&row);
    }
  }
  return rows;
}

}  // namespace

const std::vector<RunRecord>& ExperimentData::runs_of(const CellRecord& cell) const {
  static const std::vector<RunRecord> none;
  const auto found = runs.find(cell.id);
  return found == runs.end() ? none : found->second;
}

const CellRecord* ExperimentData::find_cell(const std::string& group,
                                            const std::string& arm) const {
  const auto found = cell_index.find({group, arm});
  return found == cell_index.end() ? nullptr : &cells[found->second];
}

std::string ExperimentData::copied_arm(const std::string& arm) const {
  const auto found = std::ranges::find(arms, arm, &ArmRecord::name);
  return found == arms.end() ? "" : found->copy_of;
}

std::string warning_kind(const std::string& warning) {
  std::string kind;
  for (const char c : warning) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      kind += c;
    } else if (kind.empty() || kind.back() != '#') {
      kind += '#';
    }
  }
  return kind;
}

ExperimentData read_experiment(const Store& store, std::int64_t id) {
  const auto experiment = store.experiment(id);
  if (!experiment) {
    std::vector<std::string> known;
    for (const ExperimentRecord& other : store.experiments()) {
      known.push_back(fmt::format("{} ({})", other.id, other.name));
    }
    throw Error(ErrorKind::kUsage, fmt::format("{} has no experiment {}", store.path(), id),
                known.empty() ? "it is empty" : fmt::format("known: {}", fmt::join(known, ", ")));
  }
  ExperimentData data;
  data.experiment = *experiment;
  data.host = store.host(experiment->host_id).value_or(HostRecord{});
  data.arms = store.arms(experiment->id);
  data.cells = store.cells(experiment->id);
  for (std::size_t i = 0; i < data.cells.size(); ++i) {
    data.cell_index[{data.cells[i].group, data.cells[i].arm}] = i;
  }
  for (RunRecord& run : store.runs(experiment->id)) {
    data.runs[run.cell_id].push_back(std::move(run));
  }
  return data;
}

ComparisonRow make_row(const ExperimentData& data, const CellRecord& cell,
                       const std::vector<std::string>& metrics) {
  const std::vector<RunRecord>& runs = data.runs_of(cell);
  ComparisonRow row;
  row.cell = cell;
  row.runs_total = static_cast<int>(runs.size());
  row.runs_planned = data.experiment.runs_per_cell;
  for (const RunRecord& run : runs) row.runs_planned = std::max(row.runs_planned, run.repetition);
  row.runs_ok = static_cast<int>(std::count_if(
      runs.begin(), runs.end(), [](const RunRecord& run) { return run.status == RunStatus::kOk; }));
  for (const std::string& metric : metrics) row.values.push_back(summarize_metric(runs, metric));
  if (row.runs_ok == 0) {
    row.problem = describe_problem(runs);
    for (ComparisonValue& value : row.values) value.reason = row.problem;
    return row;
  }
  collect_warnings(row, runs);
  warn_of_runs_left_out(row, runs);
  return row;
}

void set_percentages(ComparisonRow& row, const ComparisonRow& baseline) {
  for (ComparisonValue& value : row.values) {
    const ComparisonValue* other = baseline.find(value.metric);
    if (!value.summary || other == nullptr || !other->summary || other->summary->median == 0) {
      continue;
    }
    value.percent_of_baseline = 100 * value.summary->median / other->summary->median;
  }
}

void move_common_warnings_to_notes(Comparison& comparison) {
  const std::vector<ComparisonRow*> rows = rows_with_result(comparison);
  if (rows.size() < 2) return;
  const std::vector<std::string> candidates = rows.front()->warnings;
  for (const std::string& text : candidates) {
    const std::string kind = warning_kind(text);
    const bool common = std::all_of(rows.begin(), rows.end(), [&](const ComparisonRow* row) {
      return has_kind(row->warnings, kind);
    });
    if (!common) continue;
    comparison.notes.push_back("every cell: " + text);
    for (ComparisonRow* row : rows) {
      std::erase_if(row->warnings,
                    [&](const std::string& other) { return warning_kind(other) == kind; });
    }
  }
}

}  // namespace numabench
