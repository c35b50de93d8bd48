#include "hosts/mounts.h"

#include <sstream>

namespace numabench {
namespace {

bool is_below(const std::string& path, const std::string& mount_point) {
  if (!path.starts_with(mount_point)) return false;
  return mount_point == "/" || path.size() == mount_point.size() || path[mount_point.size()] == '/';
}

// "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue"
Mount parse_mount(const std::string& line) {
  Mount mount;
  std::istringstream words(line);
  std::string word;
  for (int field = 1; words >> word && word != "-"; ++field) {
    if (field == 5) mount.point = word;
    if (field == 6) mount.options = word;
  }
  std::string of_filesystem;
  words >> mount.type >> mount.source >> of_filesystem;
  if (!of_filesystem.empty()) mount.options += "," + of_filesystem;
  return mount;
}

}  // namespace

std::optional<Mount> mount_of(const std::string& path, std::string_view mountinfo) {
  std::optional<Mount> best;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    Mount mount = parse_mount(line);
    if (mount.point.empty() || !is_below(path, mount.point)) continue;
    if (!best || mount.point.size() >= best->point.size()) best = std::move(mount);
  }
  return best;
}

}  // namespace numabench
