// Everything about a host that can explain a number, read once before an experiment.
#pragma once

#include <string>
#include <vector>

namespace numabench {

/// One fact: "kernel", "cpu model", "clocksource", "transparent huge pages", "huge pages node 0" …
/// An unreadable fact has an empty value and the reason.
struct HostFact {
  std::string name;
  std::string value;
  std::string reason;  ///< why there is no value
};

struct HostSnapshot {
  std::string hostname;
  std::vector<HostFact> facts;  ///< in the order to print them

  const std::string& value(const std::string& name) const;  ///< empty if absent
  /// The fact of this name; one that was not read has that as its reason.
  HostFact fact(const std::string& name) const;
};

/// Reads /proc and /sys below `root` ("" for this host; tests pass a directory of their own).
HostSnapshot take_snapshot(const std::string& root = "");

/// A JSON object {hostname, facts: {name: value | null}, reasons: {name: reason}} for the store.
std::string to_json(const HostSnapshot& snapshot);

}  // namespace numabench
