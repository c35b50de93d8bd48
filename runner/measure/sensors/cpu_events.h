// Events of the memory hierarchy that have no name in the kernel: each CPU model has numbers of its
// own for them.
//
// Start here: cpu_events(). A new model is a line of the table in cpu_events.cc, and one of its
// test.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace numabench {

/// The first processor of /proc/cpuinfo.
struct CpuModel {
  std::string vendor;  ///< "GenuineIntel"; empty where the file has none, as on Arm
  int family = 0;
  int model = 0;
  std::string text;  ///< for people: "GenuineIntel family 0x6 model 0x55"
};
CpuModel parse_cpu_model(std::string_view cpuinfo);

inline constexpr std::array kCpuEventMetrics = {
    "perf_local_dram_loads_per_s", "perf_remote_dram_loads_per_s", "perf_local_hitm_loads_per_s",
    "perf_remote_hitm_loads_per_s"};

struct CpuEvent {
  const char* metric = "";
  const char* name = "";                ///< as the vendor calls it; empty: it has none
  std::optional<std::uint64_t> config;  ///< of an event of type PERF_TYPE_RAW
  std::string reason;                   ///< why there is none: names the CPU
};
/// One of each of kCpuEventMetrics, in their order.
std::vector<CpuEvent> cpu_events(const CpuModel& cpu);

}  // namespace numabench
