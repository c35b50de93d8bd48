#include "hosts/snapshot.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "hosts/snapshot_reader.h"

namespace numabench {

const std::string& HostSnapshot::value(const std::string& name) const {
  static const std::string kAbsent;
  const auto fact = std::find_if(facts.begin(), facts.end(),
                                 [&](const HostFact& other) { return other.name == name; });
  return fact == facts.end() ? kAbsent : fact->value;
}

HostFact HostSnapshot::fact(const std::string& name) const {
  const auto found = std::ranges::find(facts, name, &HostFact::name);
  return found == facts.end() ? HostFact{name, "", "not read"} : *found;
}

HostSnapshot take_snapshot(const std::string& root) {
  SnapshotReader reader(root);
  HostSnapshot snapshot;
  snapshot.hostname = reader.hostname();
  snapshot.facts = reader.read_facts();
  return snapshot;
}

std::string to_json(const HostSnapshot& snapshot) {
  using nlohmann::ordered_json;
  ordered_json facts = ordered_json::object();
  ordered_json reasons = ordered_json::object();
  for (const HostFact& fact : snapshot.facts) {
    if (fact.reason.empty()) {
      facts[fact.name] = fact.value;
    } else {
      facts[fact.name] = nullptr;
      reasons[fact.name] = fact.reason;
    }
  }
  const ordered_json document{
      {"hostname", snapshot.hostname}, {"facts", facts}, {"reasons", reasons}};
  // A DMI string need not be UTF-8; one bad byte must not cost the experiment.
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace numabench
