#include "reports/host_fitness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace numabench {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& check, const char* key) {
  const auto found = check.find(key);
  return found != check.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string describe(const Json& check) {
  const std::string value = text_of(check, "value");
  return fmt::format("{}: {}", text_of(check, "name"), value.empty() ? "unknown" : value);
}

}  // namespace

HostFitness read_host_fitness(const HostRecord& host) {
  HostFitness fitness;
  const Json snapshot = Json::parse(host.snapshot_json, nullptr, false);
  if (!snapshot.is_object() || !snapshot.contains("checks")) return fitness;
  const Json& checks = snapshot["checks"];
  if (!checks.is_array()) return fitness;
  fitness.looked_at = !checks.empty();
  fitness.switched_off = checks.empty();
  for (const Json& check : checks) {
    if (!check.is_object()) continue;
    const std::string rating = text_of(check, "rating");
    if (rating == "red") fitness.red.push_back(describe(check));
    if (rating == "warn") fitness.warn.push_back(describe(check));
  }
  return fitness;
}

std::vector<std::string> fitness_notes(const HostFitness& fitness) {
  std::vector<std::string> notes;
  if (fitness.switched_off) {
    notes.emplace_back("not fit to publish: host_checks is off, nobody looked at the host");
  }
  for (const std::string& line : fitness.red) notes.push_back("not fit to publish: " + line);
  if (!fitness.warn.empty()) {
    notes.push_back(fmt::format("may disturb: {}", fmt::join(fitness.warn, ", ")));
  }
  return notes;
}

}  // namespace numabench
