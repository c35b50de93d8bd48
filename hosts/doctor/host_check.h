// What spoils the numbers of this host: each check has the value found, the one wanted, a rating,
// why it matters and how to change it.
//
// Start here: `examine_host()` gives the sheet that `numabench doctor` prints and that is stored
// with every experiment; hosts/tuning.h changes what can be changed, and puts it back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hosts/host_load.h"
#include "hosts/snapshot.h"

namespace numabench {

enum class Rating {
  kOk,
  kNote,  ///< worth knowing; or not known
  kWarn,  ///< may disturb: to be explained beside the numbers
  kRed,   ///< the numbers are not fit to publish
};
std::string to_string(Rating rating);  ///< "ok", "note", "warn", "red"

/// A one-value file of /proc or /sys and the value that it should have.
struct FileSetting {
  std::string path;
  std::string value;
  bool operator==(const FileSetting&) const = default;
};

struct HostCheck {
  std::string name;    ///< "numa balancing", "huge pages node 0"
  std::string value;   ///< as found
  std::string reason;  ///< why there is no value
  std::string wanted;
  Rating rating = Rating::kOk;
  std::string why;  ///< what it does to the numbers
  std::string how;  ///< to change it
  /// What changes it, in this order; empty when it is not numabench's to change.
  std::vector<FileSetting> settings = {};
};

/// What an experiment asks of its host; without an experiment nothing.
struct HostNeeds {
  enum class HugePages { kNone, kWanted, kRequired };
  HugePages huge_pages = HugePages::kNone;
  /// Of the largest pool, on each node that its placement may put it on.
  std::map<int, std::uint64_t> pool_bytes_by_node;
  std::uint64_t memory_bytes = 0;  ///< of the largest run
  int clients = 0;
  std::string data_directory;  ///< need not exist yet; empty: the working directory
  std::uint64_t disk_bytes = 0;
  std::vector<std::string> server_directories;  ///< with postgres in them; empty: those installed
  /// Values wanted in place of the usual ones, by the name of the check: {"turbo": "off"}.
  std::map<std::string, std::string> settings;
};

/// What the checks look at.
struct HostView {
  std::string root;  ///< before every path; "" for this host
  HostSnapshot snapshot;
  HostLoad load;
};

/// This host, whose snapshot has just been taken; watches its load for a fifth of a second.
HostView view_this_host(HostSnapshot snapshot);

/// One line for each thing that is looked at, in the order to print them; nothing is left out
/// because it could not be read.
std::vector<HostCheck> examine_host(const HostView& view, const HostNeeds& needs);

/// The names of the checks whose wanted value HostNeeds::settings can say, and with which values;
/// an empty list: any whole number.
struct SettableCheck {
  std::string name;
  std::vector<std::string> values;
};
const std::vector<SettableCheck>& settable_checks();

/// The checks of this rating, "name value (wanted X)" each.
std::vector<std::string> describe_checks(const std::vector<HostCheck>& sheet, Rating rating);

/// Aligned lines; below each that is not ok, or below all with `explain`, why and how.
std::string format_sheet(const std::vector<HostCheck>& sheet, bool explain);

/// [{name, value | null, reason, wanted, rating, why, how, settings: [{path, value}]} …]
std::string to_json(const std::vector<HostCheck>& sheet);

/// The snapshot's JSON with the sheet in it as "checks": what the store keeps of a host.
std::string to_json(const HostSnapshot& snapshot, const std::vector<HostCheck>& sheet);

}  // namespace numabench
