// The hosts that a topology can be of: this one, a gathered folder, an XML file, a description.
#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/kernel_topology.h"
#include "hosts/topology.h"
#include "hosts/topology_reader.h"

namespace numabench {
namespace {

HwlocTopology new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    throw Error(ErrorKind::kInternal, "hwloc_topology_init failed");
  }
  // Without this flag a node without memory and CPUs outside the cpuset do not appear at all.
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
  return HwlocTopology(topology);
}

// Sets variables and puts back what was there.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) {
      const char* before = std::getenv(name.c_str());
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value) ::setenv(name.c_str(), value->c_str(), 1);
      if (!value) ::unsetenv(name.c_str());
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

Topology Topology::of_this_host() {
  HwlocTopology hwloc = new_topology();
  if (hwloc_topology_load(hwloc.get()) != 0) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("hwloc cannot read this host's topology: {}", std::strerror(errno)),
                "check that /sys is mounted");
  }
  // The environment can put another machine in its place, on which every binding is a no-op.
  if (hwloc_topology_is_thissystem(hwloc.get()) == 0) {
    throw Error(ErrorKind::kPreflight, "the environment makes hwloc describe another machine",
                "unset HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT and HWLOC_COMPONENTS");
  }
  return TopologyReader(std::move(hwloc), "this host").read(read_kernel_topology(""));
}

Topology Topology::of_gathered_folder(const std::string& path) {
  if (!std::filesystem::is_directory(path + "/sys/devices/system/cpu")) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' has no sys/devices/system/cpu", path),
                "make such a folder with hwloc-gather-topology and unpack its archive");
  }
  // hwloc has no call for this.
  const ScopedEnvironment environment(
      {{"HWLOC_FSROOT", path}, {"HWLOC_COMPONENTS", "linux,stop"}, {"HWLOC_THISSYSTEM", "0"}});
  HwlocTopology hwloc = new_topology();
  if (hwloc_topology_load(hwloc.get()) != 0) {
    throw Error(ErrorKind::kUsage, fmt::format("hwloc cannot read the host in '{}'", path));
  }
  return TopologyReader(std::move(hwloc), path).read(read_kernel_topology(path));
}

Topology Topology::of_xml_file(const std::string& path) {
  HwlocTopology hwloc = new_topology();
  // hwloc says no more of a file it cannot open than of one that is not XML.
  if (!read_text_file(path)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("cannot read topology '{}': {}", path, std::strerror(errno)));
  }
  if (hwloc_topology_set_xml(hwloc.get(), path.c_str()) != 0 ||
      hwloc_topology_load(hwloc.get()) != 0) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is not hwloc XML of version 1 or 2", path),
                "make one with: lstopo file.xml");
  }
  return TopologyReader(std::move(hwloc), path).read(std::nullopt);
}

Topology Topology::of_synthetic(const std::string& description) {
  HwlocTopology hwloc = new_topology();
  if (hwloc_topology_set_synthetic(hwloc.get(), description.c_str()) != 0 ||
      hwloc_topology_load(hwloc.get()) != 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("'{}' is not a synthetic topology of hwloc", description),
                "write one such as \"pack:2 [numa(memory=64GB)] core:4 pu:2\"");
  }
  return TopologyReader(std::move(hwloc), description).read(std::nullopt);
}

}  // namespace numabench
