#include "hosts/cgroup.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

#include "hosts/files.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr const char* kNoLimit = "max";

/// The group of this process in the tree of `controller` ("" for version 2), from lines such as
/// "4:memory:/batch/job7" and "0::/batch/job7".
std::optional<std::string> group_of(const std::string& membership, const std::string& controller) {
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const auto names = line.find(':');
    const auto path = line.find(':', names + 1);
    if (names == std::string::npos || path == std::string::npos) continue;
    const std::string list = "," + line.substr(names + 1, path - names - 1) + ",";
    if (list == ",,"         ? controller.empty()
        : controller.empty() ? false
                             : list.find("," + controller + ",") != std::string::npos) {
      return line.substr(path + 1);
    }
  }
  return std::nullopt;
}

/// Version 1 writes -1, or the largest number of pages, for "none".
bool limits(const std::string& text) {
  if (text.starts_with(kNoLimit) || text.starts_with('-')) return false;
  constexpr double kBeyondAnyHost = 0x1p62;
  return parse_number(text).value_or(0) < kBeyondAnyHost;
}

/// From `group` up to the root of the tree; nullopt when no group there has the file.
std::optional<std::string> nearest(const std::string& tree, std::string group,
                                   const std::string& file) {
  std::optional<std::string> found;
  for (;;) {
    const auto limit = read_text_file(tree + (group == "/" ? "" : group) + "/" + file);
    if (limit && limits(*limit)) return limit;
    if (limit && !found) found = kNoLimit;
    if (group.empty() || group == "/") return found;
    group.erase(group.rfind('/'));
  }
}

}  // namespace

CgroupLimit cgroup_limit(const std::string& root, const CgroupFile& file) {
  const auto membership = read_text_file(root + "/proc/self/cgroup");
  if (!membership) return {"", fmt::format("/proc/self/cgroup: {}", std::strerror(errno))};
  const std::string trees = root + "/sys/fs/cgroup";
  if (const auto group = group_of(*membership, "")) {
    if (const auto value = nearest(trees, *group, file.v2_file)) return {*value, ""};
  }
  const auto group = file.v1_file.empty() ? std::nullopt : group_of(*membership, file.controller);
  if (group) {
    const auto value = nearest(trees + "/" + file.controller, *group, file.v1_file);
    if (value) return {*value, ""};
  }
  return {"", fmt::format("no {} in the cgroups of this process", file.v2_file)};
}

}  // namespace numabench
