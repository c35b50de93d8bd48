#include "hosts/tuning_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hosts/error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const JournalEntry& entry) {
  return {{"name", entry.setting.name},          {"path", entry.setting.path},
          {"value", entry.setting.value},        {"before", entry.before},
          {"observed", entry.observed},          {"restore_path", entry.restore_path},
          {"restore_value", entry.restore_value}};
}

JournalEntry entry_of(const Json& json) {
  return {{json.at("name"), json.at("path"), json.at("value")},
          json.at("before"),
          json.at("observed"),
          json.at("restore_path"),
          json.at("restore_value")};
}

}  // namespace

std::string to_json(const TuningJournal& journal) {
  Json entries = Json::array();
  for (const JournalEntry& entry : journal.entries) entries.push_back(to_json(entry));
  const Json json{{"numabench_journal", 1},
                  {"started_at", journal.started_at},
                  {"boot_id", journal.boot_id},
                  {"complete", journal.complete},
                  {"entries", std::move(entries)}};
  return json.dump(2) + "\n";
}

TuningJournal parse_journal(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    TuningJournal journal;
    journal.started_at = json.at("started_at");
    journal.boot_id = json.at("boot_id");
    journal.complete = json.at("complete");
    for (const Json& entry : json.at("entries")) journal.entries.push_back(entry_of(entry));
    return journal;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("{} is not a journal of host settings: {}", path, error.what()),
                "look at it, put the values back by hand, and remove it");
  }
}

bool is_ours(const JournalEntry& entry, const std::string& current) {
  if (current == entry.setting.value) return true;
  if (!entry.observed.empty()) return current == entry.observed;
  if (!entry.setting.path.ends_with("/nr_hugepages")) return false;
  const auto from = parse_number(entry.before);
  const auto to = parse_number(entry.setting.value);
  const auto now = parse_number(current);
  return from && to && now && *now >= std::min(*from, *to) && *now <= std::max(*from, *to);
}

}  // namespace numabench
