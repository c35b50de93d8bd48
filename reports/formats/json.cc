#include <nlohmann/json.hpp>
#include <optional>

#include "reports/formats/formats.h"

namespace numabench {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

/// The config's text stays in the store: `export` gives it to whoever wants to repeat the
/// experiment.
Json to_json(const ExperimentRecord& experiment, const HostRecord& host) {
  return {{"name", experiment.name},
          {"id", experiment.id},
          {"engine", experiment.engine},
          {"config_hash", experiment.config_hash},
          {"seed", experiment.seed},
          {"smoke", experiment.smoke},
          {"scale", experiment.scale},
          {"notes", experiment.notes},
          {"started_at", experiment.started_at},
          {"software", experiment.software},
          {"host", host.hostname}};
}

Json percent_or_null(std::optional<double> log_ratio) {
  return log_ratio ? Json(percent_of_log(*log_ratio)) : Json(nullptr);
}

Json to_json(const Judgement& judgement) {
  const Difference& difference = judgement.difference;
  const auto& interval = difference.interval;
  return {{"pairs", difference.pairs},
          {"in_blocks", difference.paired},
          {"change_pct", percent_of_log(difference.log_ratio)},
          {"change_pct_low", interval ? Json(percent_of_log(interval->low)) : Json(nullptr)},
          {"change_pct_high", interval ? Json(percent_of_log(interval->high)) : Json(nullptr)},
          {"noise_pct", percent_of_log(difference.noise)},
          {"floor_pct", percent_or_null(judgement.floor)},
          {"p", difference.p}};
}

Json with_verdict(const Judgement& judgement) {
  Json json = to_json(judgement);
  json["p_adjusted"] = judgement.verdict.p;
  json["verdict"] = to_string(judgement.verdict.kind);
  json["verdict_text"] = judgement.verdict.text();
  return json;
}

Json to_json(const ComparisonValue& value, bool is_copy) {
  const auto& summary = value.summary;
  Json json = {{"unit", find_metric(value.metric)->unit},
               {"n", summary ? summary->n : 0},
               {"median", summary ? Json(summary->median) : Json(nullptr)},
               {"min", summary ? Json(summary->minimum) : Json(nullptr)},
               {"max", summary ? Json(summary->maximum) : Json(nullptr)},
               {"percent_of_baseline", number_or_null(value.percent_of_baseline)}};
  if (!summary) json["reason"] = value.reason;
  if (value.judgement) {
    json["paired"] = is_copy ? to_json(*value.judgement) : with_verdict(*value.judgement);
  }
  return json;
}

Json to_json(const ComparisonRow& row) {
  const CellRecord& cell = row.cell;
  Json json = {{"arm", cell.arm},
               {"ratio", cell.ratio},
               {"workload", cell.workload},
               {"workload_parameters", cell.workload_parameters},
               {"pool_bytes", cell.pool_bytes},
               {"working_set_bytes", cell.working_set_bytes},
               {"clients", cell.clients},
               {"placement", cell.placement},
               {"regime", cell.regime},
               {"cell_hash", cell.hash},
               {"is_baseline", row.is_baseline},
               {"is_copy", row.is_copy},
               {"runs_ok", row.runs_ok},
               {"runs_total", row.runs_total},
               {"runs_planned", row.runs_planned},
               {"warnings", row.warnings}};
  if (!row.side.empty()) json["side"] = row.side;
  if (!row.problem.empty()) json["problem"] = row.problem;
  Json values = Json::object();
  for (const ComparisonValue& value : row.values)
    values[value.metric] = to_json(value, row.is_copy);
  json["values"] = std::move(values);
  return json;
}

Json to_json(const ComparisonTable& table) {
  Json rows = Json::array();
  for (const ComparisonRow& row : table.rows) rows.push_back(to_json(row));
  return {{"title", table.title}, {"rows", std::move(rows)}};
}

Json to_json(const SeriesTable& table) {
  Json steps = Json::array();
  for (const SeriesStep& step : table.steps) {
    const auto& summary = step.summary;
    steps.push_back({{"arm", step.arm},
                     {"patch", step.patch},
                     {"median", summary ? Json(summary->median) : Json(nullptr)},
                     {"min", summary ? Json(summary->minimum) : Json(nullptr)},
                     {"max", summary ? Json(summary->maximum) : Json(nullptr)},
                     {"reason", step.reason},
                     {"ratio_to_step_before", number_or_null(step.ratio_to_step_before)},
                     {"paired", step.judgement ? with_verdict(*step.judgement) : Json(nullptr)}});
  }
  return {{"title", table.title},
          {"metric", table.metric},
          {"steps", std::move(steps)},
          {"conclusion", table.conclusion}};
}

Json to_json(const std::vector<ArmRecord>& arms) {
  Json array = Json::array();
  for (const ArmRecord& arm : arms) {
    Json build = arm.build_json ? Json::parse(*arm.build_json, nullptr, false) : Json(nullptr);
    if (build.is_discarded()) build = *arm.build_json;
    array.push_back({{"name", arm.name},
                     {"series", arm.series},
                     {"series_position", arm.series_position},
                     {"build", std::move(build)}});
  }
  return array;
}

}  // namespace

std::string render_json(const Comparison& comparison, const FormatOptions&) {
  Json json = {{"experiment", to_json(comparison.experiment, comparison.host)}};
  if (comparison.before) json["before"] = to_json(*comparison.before, *comparison.before_host);
  json["baseline"] = comparison.baseline_arm;
  json["metrics"] = comparison.metrics;
  json["notes"] = comparison.notes;
  json["tables"] = Json::array();
  for (const ComparisonTable& table : comparison.tables) json["tables"].push_back(to_json(table));
  json["series"] = Json::array();
  for (const SeriesTable& table : comparison.series) json["series"].push_back(to_json(table));
  json["arms"] = to_json(comparison.arms);
  if (comparison.before) json["before"]["arms"] = to_json(comparison.before_arms);
  // A reason may quote a program that does not write UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace numabench
