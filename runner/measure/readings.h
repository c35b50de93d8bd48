// Helpers of the sensors: counters that grow, and the files of /proc that list them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reports/metric.h"

namespace numabench {

/// A counter that only grows.
class GrowingCounter {
 public:
  /// By how much it grew since the last call; nullopt at the first, and when it went backwards
  /// because somebody set it back.
  std::optional<double> grown_to(double now);

 private:
  std::optional<double> last_;
};

/// A file's text, or why there is none.
struct FileText {
  std::string text;
  std::string reason;  ///< "/proc/vmstat: No such file or directory"; empty when there is a text

  bool is_readable() const { return reason.empty(); }
};
FileText read_file_below(const std::string& root, const std::string& path);

/// "pgfault 17", "MemFree:  17 kB", "Node 0 MemFree:  17 kB", "intr 17 0 9": the first number
/// behind each name. Units are left to the caller.
std::map<std::string, double, std::less<>> named_numbers(std::string_view text);

/// The whole text as a number.
std::optional<double> number_of(const std::string& text);

}  // namespace numabench
