// A host whose firmware says of the same CPUs that they are of two nodes.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hosts/topology.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {

/// Two cores of one package, and two nodes of 1 GiB that both have them.
inline Topology contradicting_host() {
  const TemporaryDirectory folder;
  const std::string system = "sys/devices/system/";
  for (const int id : {0, 1}) {
    const std::string core = fmt::format("{}cpu/cpu{}/topology/", system, id);
    folder.write(core + "physical_package_id", "0\n");
    folder.write(core + "core_id", fmt::format("{}\n", id));
    folder.write(core + "thread_siblings", fmt::format("{}\n", 1 << id));
    folder.write(core + "core_siblings", "3\n");
    const std::string node = fmt::format("{}node/node{}/", system, id);
    folder.write(node + "cpumap", "3\n");
    folder.write(node + "meminfo", fmt::format("Node {} MemTotal: 1048576 kB\n", id));
    folder.write(node + "distance", id == 0 ? "10 20\n" : "20 10\n");
  }
  folder.write(system + "cpu/online", "0-1\n");
  folder.write(system + "node/online", "0-1\n");
  return Topology::of_gathered_folder(folder.path());
}

}  // namespace numabench
