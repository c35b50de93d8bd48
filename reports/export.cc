#include "reports/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "hosts/error.h"
#include "hosts/units.h"
#include "reports/arm_facts.h"
#include "reports/csv.h"
#include "reports/metric.h"

namespace numabench {
namespace {

using Json = nlohmann::ordered_json;
using Wanted = std::function<bool(const CellRecord&)>;

struct CellRuns {
  CellRecord cell;
  std::vector<RunRecord> runs;  ///< by order of execution
};

ExperimentRecord require_experiment(const Store& store, std::int64_t id) {
  std::optional<ExperimentRecord> experiment = store.experiment(id);
  if (!experiment) {
    throw Error(ErrorKind::kUsage, fmt::format("{} has no experiment {}", store.path(), id),
                "name one that status lists");
  }
  return *experiment;
}

/// The wanted cells, by position.
std::vector<CellRuns> wanted_cells(const Store& store, std::int64_t experiment_id,
                                   const Wanted& wanted) {
  std::map<std::int64_t, std::vector<RunRecord>> runs_of_cell;
  for (auto runs : {store.runs(experiment_id), store.drift_controls(experiment_id)}) {
    for (RunRecord& run : runs) runs_of_cell[run.cell_id].push_back(std::move(run));
  }
  std::vector<CellRuns> cells;
  for (CellRecord& cell : store.cells(experiment_id)) {
    if (wanted && !wanted(cell)) continue;
    std::vector<RunRecord> runs = std::move(runs_of_cell[cell.id]);
    cells.push_back({std::move(cell), std::move(runs)});
  }
  return cells;
}

/// The metrics that any run has: the catalogue's in its order, then those of one node each, which
/// sort by number when shorter names go first.
std::vector<std::string> metrics_of(const std::vector<CellRuns>& cells) {
  std::set<std::string> present;
  for (const CellRuns& cell : cells) {
    for (const RunRecord& run : cell.runs) {
      for (const MetricValue& value : run.values) present.insert(value.metric);
    }
  }
  std::vector<std::string> metrics;
  for (const Metric& metric : metric_catalogue()) {
    if (present.erase(metric.name) > 0) metrics.push_back(metric.name);
  }
  std::vector<std::string> of_nodes(present.begin(), present.end());
  std::stable_sort(of_nodes.begin(), of_nodes.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  metrics.insert(metrics.end(), of_nodes.begin(), of_nodes.end());
  return metrics;
}

ArmRecord arm_named(const std::vector<ArmRecord>& arms, const std::string& name) {
  const auto found = std::ranges::find(arms, name, &ArmRecord::name);
  return found == arms.end() ? ArmRecord{} : *found;
}

/// The fields of a run in front of its metrics, with their names: export.h has what they mean.
std::vector<std::pair<std::string, std::string>> csv_factors(const ExperimentRecord& experiment,
                                                             const ArmRecord& arm,
                                                             const CellRecord& cell,
                                                             const RunRecord& run) {
  const ArmFacts build = arm_facts(arm).value_or(ArmFacts{});
  return {
      {"experiment_id", std::to_string(experiment.id)},
      {"experiment", experiment.name},
      {"engine", experiment.engine},
      {"smoke", experiment.smoke ? "1" : "0"},
      {"scale", format_exact(experiment.scale)},
      {"software", experiment.software},
      {"cell", cell.hash},
      {"cell_group", cell.group},
      {"arm", cell.arm},
      {"copy_of", arm.copy_of},
      {"series", arm.series},
      {"series_position", arm.series.empty() ? "" : std::to_string(arm.series_position)},
      {"build_source", build.source},
      {"build_id", build.build_id},
      {"workload", cell.workload},
      {"workload_parameters", cell.workload_parameters},
      {"placement", cell.placement},
      {"regime", cell.regime},
      {"pool_bytes", std::to_string(cell.pool_bytes)},
      {"working_set_bytes", std::to_string(cell.working_set_bytes)},
      {"ratio", format_exact(cell.ratio)},
      {"clients", std::to_string(cell.clients)},
      {"run_id", std::to_string(run.id)},
      {"repetition", std::to_string(run.repetition)},
      {"run_order", std::to_string(run.run_order)},
      {"block", std::to_string(run.block)},
      {"block_position", std::to_string(run.block_position)},
      {"addition", std::to_string(run.addition)},
      {"seed", std::to_string(run.seed)},
      {"status", to_string(run.status)},
      {"reason", run.reason},
      {"started_at", run.started_at},
      {"duration_seconds", format_exact(run.duration_seconds)},
  };
}

std::string csv_header(const std::vector<std::string>& metrics) {
  std::vector<std::string> names;
  for (const auto& [name, text] : csv_factors({}, {}, {}, {})) names.push_back(name);
  names.insert(names.end(), metrics.begin(), metrics.end());
  return csv_line(names);
}

std::string csv_row(const ExperimentRecord& experiment, const ArmRecord& arm,
                    const CellRecord& cell, const RunRecord& run,
                    const std::vector<std::string>& metrics) {
  std::map<std::string_view, std::string> texts;
  for (const MetricValue& value : run.values) {
    if (value.value) texts[value.metric] = format_exact(*value.value);
  }
  std::vector<std::string> fields;
  for (const auto& [name, text] : csv_factors(experiment, arm, cell, run)) fields.push_back(text);
  for (const std::string& metric : metrics) fields.push_back(texts[metric]);
  return csv_line(fields);
}

Json to_json(const ExperimentRecord& experiment) {
  return {{"id", experiment.id},
          {"name", experiment.name},
          {"engine", experiment.engine},
          {"baseline_arm", experiment.baseline_arm},
          {"source_text", experiment.source_text},
          {"expanded_text", experiment.expanded_text},
          {"config_hash", experiment.config_hash},
          {"seed", std::to_string(experiment.seed)},
          {"runs_per_cell", experiment.runs_per_cell},
          {"smoke", experiment.smoke},
          {"scale", experiment.scale},
          {"notes", experiment.notes},
          {"started_at", experiment.started_at},
          {"software", experiment.software}};
}

/// As text when it is no JSON.
Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json to_json(const HostRecord& host) {
  return {{"hostname", host.hostname},
          {"snapshot", parsed(host.snapshot_json)},
          {"topology_xml", host.topology_xml}};
}

Json to_json(const std::vector<ArmRecord>& arms) {
  Json array = Json::array();
  for (const ArmRecord& arm : arms) {
    array.push_back(
        {{"name", arm.name},
         {"description", arm.description},
         {"definition", arm.definition},
         {"copy_of", arm.copy_of},
         {"series", arm.series},
         {"series_position", arm.series.empty() ? Json(nullptr) : Json(arm.series_position)},
         {"build", arm.build_json ? parsed(*arm.build_json) : Json(nullptr)}});
  }
  return array;
}

Json metrics_to_json(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const std::string& name : names) {
    const Metric* metric = find_metric(name);
    if (metric == nullptr) continue;  // of a later numabench: exported, but not described
    array.push_back({{"name", name},
                     {"unit", metric->unit},
                     {"better", to_string(metric->better)},
                     {"description", metric->description}});
  }
  return array;
}

Json to_json(const RunRecord& run) {
  Json values = Json::object();
  Json reasons = Json::object();
  for (const MetricValue& value : run.values) {
    values[value.metric] = value.value ? Json(*value.value) : Json(nullptr);
    if (!value.value) reasons[value.metric] = value.reason;
  }
  Json events = Json::array();
  for (const EventRecord& event : run.events) {
    events.push_back({{"severity", event.severity}, {"text", event.text}});
  }
  Json proofs = Json::array();
  for (const PlacementProofRecord& proof : run.placement_proofs) {
    proofs.push_back(
        {{"role", proof.role},
         {"pid", proof.pid},
         {"expected", proof.expected},
         {"observed", proof.observed},
         {"differs", proof.differs},
         {"looks", proof.looks},
         {"cpu_migrations", proof.cpu_migrations ? Json(*proof.cpu_migrations) : Json(nullptr)},
         {"cpu_migrations_reason", proof.cpu_migrations_reason}});
  }
  Json memory = Json::array();
  for (const PoolMemoryRecord& record : run.pool_memory) {
    memory.push_back({{"moment", to_string(record.moment)},
                      {"node", record.node},
                      {"page_bytes", record.page_bytes},
                      {"pages", record.pages}});
  }
  return {{"id", run.id},
          {"repetition", run.repetition},
          {"run_order", run.run_order},
          {"block", run.block},
          {"block_position", run.block_position},
          {"addition", run.addition},
          {"seed", std::to_string(run.seed)},
          {"status", to_string(run.status)},
          {"reason", run.reason},
          {"started_at", run.started_at},
          {"duration_seconds", run.duration_seconds},
          {"values", std::move(values)},
          {"reasons", std::move(reasons)},
          {"events", std::move(events)},
          {"placement_proofs", std::move(proofs)},
          {"pool_memory", std::move(memory)}};
}

Json to_json(const CellRuns& cell_runs) {
  const CellRecord& cell = cell_runs.cell;
  Json runs = Json::array();
  for (const RunRecord& run : cell_runs.runs) runs.push_back(to_json(run));
  return {{"id", cell.id},
          {"hash", cell.hash},
          {"group", cell.group},
          {"position", cell.position},
          {"arm", cell.arm},
          {"workload", cell.workload},
          {"workload_parameters", cell.workload_parameters},
          {"placement", cell.placement},
          {"regime", cell.regime},
          {"pool_bytes", cell.pool_bytes},
          {"working_set_bytes", cell.working_set_bytes},
          {"ratio", cell.ratio},
          {"clients", cell.clients},
          {"runs", std::move(runs)}};
}

}  // namespace

std::string export_csv(const Store& store, std::int64_t experiment_id, const Wanted& wanted) {
  const ExperimentRecord experiment = require_experiment(store, experiment_id);
  const std::vector<CellRuns> cells = wanted_cells(store, experiment_id, wanted);
  const std::vector<std::string> metrics = metrics_of(cells);
  std::string csv = csv_header(metrics);
  const std::vector<ArmRecord> arms = store.arms(experiment_id);
  for (const auto& [cell, runs] : cells) {
    const ArmRecord arm = arm_named(arms, cell.arm);
    for (const RunRecord& run : runs) csv += csv_row(experiment, arm, cell, run, metrics);
  }
  return csv;
}

std::string export_json(const Store& store, std::int64_t experiment_id, const Wanted& wanted) {
  const ExperimentRecord experiment = require_experiment(store, experiment_id);
  const std::vector<CellRuns> cells = wanted_cells(store, experiment_id, wanted);
  Json cells_json = Json::array();
  for (const CellRuns& cell : cells) cells_json.push_back(to_json(cell));
  const Json json = {{"experiment", to_json(experiment)},
                     {"host", to_json(store.host(experiment.host_id).value_or(HostRecord{}))},
                     {"arms", to_json(store.arms(experiment_id))},
                     {"metrics", metrics_to_json(metrics_of(cells))},
                     {"cells", std::move(cells_json)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace numabench
