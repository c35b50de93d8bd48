#include "hosts/doctor/host_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "hosts/doctor/check_list.h"
#include "hosts/files.h"

namespace numabench {
namespace {

using Json = nlohmann::ordered_json;

Json checks_json(const std::vector<HostCheck>& sheet) {
  Json checks = Json::array();
  for (const HostCheck& check : sheet) {
    Json settings = Json::array();
    for (const FileSetting& setting : check.settings) {
      settings.push_back({{"path", setting.path}, {"value", setting.value}});
    }
    const bool known = check.reason.empty();
    checks.push_back({{"name", check.name},
                      {"value", known ? Json(check.value) : Json(nullptr)},
                      {"reason", check.reason},
                      {"wanted", check.wanted},
                      {"rating", to_string(check.rating)},
                      {"why", check.why},
                      {"how", check.how},
                      {"settings", std::move(settings)}});
  }
  return checks;
}

}  // namespace

std::string to_string(Rating rating) {
  static const std::vector<std::string> kNames{"ok", "note", "warn", "red"};
  return kNames[static_cast<std::size_t>(rating)];
}

HostView view_this_host(HostSnapshot snapshot) {
  return {"", std::move(snapshot), measure_host_load(std::chrono::milliseconds(200))};
}

std::vector<HostCheck> examine_host(const HostView& view, const HostNeeds& needs) {
  CheckList list(view, needs);
  check_processors(list);
  check_memory(list);
  check_confinement(list);
  check_system(list);
  return std::move(list.checks);
}

const std::vector<SettableCheck>& settable_checks() {
  static const std::vector<SettableCheck> kChecks{
      {"governor", {"performance", "powersave", "ondemand", "schedutil"}},
      {"turbo", {"on", "off"}},
      {"smt", {"on", "off"}},
      {"numa balancing", {"0", "1", "2"}},
      {"zone reclaim mode", {}},
      {"transparent huge pages", {"always", "madvise", "never"}},
      {"transparent huge pages shared memory", {"always", "within_size", "advise", "never"}},
      {"swappiness", {}},
      {"dirty background bytes", {}},
      {"dirty bytes", {}},
      {"aslr", {"0", "1", "2"}},
      {"perf event paranoid", {"-1", "0", "1", "2", "3", "4"}}};
  return kChecks;
}

HostCheck& CheckList::add(HostCheck check) {
  checks.push_back(std::move(check));
  return checks.back();
}

HostCheck& CheckList::add_fact(const std::string& name, const std::string& usual,
                               const std::string& why, const std::string& how) {
  const HostFact fact = view.snapshot.fact(name);
  return add({.name = name,
              .value = fact.value,
              .reason = fact.reason,
              .wanted = wanted(name, usual),
              .rating = fact.reason.empty() ? Rating::kOk : Rating::kNote,
              .why = why,
              .how = how});
}

std::string CheckList::wanted(const std::string& name, const std::string& usual) const {
  const auto chosen = needs.settings.find(name);
  return chosen == needs.settings.end() ? usual : chosen->second;
}

std::optional<std::string> CheckList::read(const std::string& path) const {
  return read_text_file(view.root + path);
}

bool CheckList::has_many_nodes() const {
  return numbered_entries(view.root + "/sys/devices/system/node", "node").size() > 1;
}

std::size_t CheckList::cpu_count() const {
  return parse_id_list(view.snapshot.value("cpus online")).value_or(IdSet{}).size();
}

std::vector<std::string> describe_checks(const std::vector<HostCheck>& sheet, Rating rating) {
  std::vector<std::string> texts;
  for (const HostCheck& check : sheet) {
    if (check.rating != rating) continue;
    texts.push_back(fmt::format("{} {} (wanted: {})", check.name,
                                check.reason.empty() ? check.value : "unknown", check.wanted));
  }
  return texts;
}

std::string format_sheet(const std::vector<HostCheck>& sheet, bool explain) {
  const auto shown = [](const HostCheck& check) {
    return check.reason.empty() ? check.value : "unknown: " + check.reason;
  };
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  constexpr std::size_t kWidestAligned = 40;
  for (const HostCheck& check : sheet) {
    name_width = std::max(name_width, check.name.size());
    const std::size_t size = shown(check).size();
    if (size <= kWidestAligned) value_width = std::max(value_width, size);
  }
  std::string text;
  for (const HostCheck& check : sheet) {
    text += fmt::format("{:<4}  {:<{}}  {:<{}}  wanted: {}\n", to_string(check.rating), check.name,
                        name_width, shown(check), value_width, check.wanted);
    if (check.rating == Rating::kOk && !explain) continue;
    text += fmt::format("        why  {}\n", check.why);
    if (!check.how.empty()) text += fmt::format("        how  {}\n", check.how);
  }
  return text;
}

std::string to_json(const std::vector<HostCheck>& sheet) {
  // A firmware's string need not be UTF-8.
  return checks_json(sheet).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_json(const HostSnapshot& snapshot, const std::vector<HostCheck>& sheet) {
  Json json = Json::parse(to_json(snapshot));
  json["checks"] = checks_json(sheet);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace numabench
