#include "runner/measure/sensors/cpu_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace numabench {
namespace {

/// Of PERF_TYPE_RAW on x86: the unit mask above the event's number.
constexpr std::uint64_t raw(std::uint64_t event, std::uint64_t mask) { return mask << 8 | event; }

/// A vendor's name and number of what a metric counts; no name: it has no such event.
struct Encoding {
  const char* name = "";
  std::uint64_t config = 0;
};

/// In the order of kCpuEventMetrics.
using Encodings = std::array<Encoding, kCpuEventMetrics.size()>;

// Intel: github.com/intel/perfmon, */events/*_core.json at 6dadedf (HSX, BDX).
constexpr Encodings kHaswell = {{{"MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", raw(0xd3, 0x01)},
                                 {"MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM", raw(0xd3, 0x04)},
                                 {"MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM", raw(0xd2, 0x04)},
                                 {"MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM", raw(0xd3, 0x10)}}};
// The same (SKX, CLX).
constexpr Encodings kSkylake = {{{"MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", raw(0xd3, 0x01)},
                                 {"MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", raw(0xd3, 0x02)},
                                 {"MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", raw(0xd2, 0x04)},
                                 {"MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", raw(0xd3, 0x04)}}};
// The same (ICX, SPR, EMR, GNR), where XSNP_HITM has got another name.
constexpr Encodings kIceLake = {{{"MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", raw(0xd3, 0x01)},
                                 {"MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", raw(0xd3, 0x02)},
                                 {"MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", raw(0xd2, 0x04)},
                                 {"MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", raw(0xd3, 0x04)}}};
// AMD: Linux, tools/perf/pmu-events/arch/x86/amdzen2. Fills from other caches are counted whether
// the line was modified there or not: no HITM.
constexpr Encodings kZen2 = {{{"ls_refills_from_sys.ls_mabresp_lcl_dram", raw(0x43, 0x08)},
                              {"ls_refills_from_sys.ls_mabresp_rmt_dram", raw(0x43, 0x40)},
                              {},
                              {}}};
// The same, amdzen3 to amdzen5; amdzen3 calls them mem_io_local and mem_io_remote.
constexpr Encodings kZen3 = {{{"ls_dmnd_fills_from_sys.dram_io_near", raw(0x43, 0x08)},
                              {"ls_dmnd_fills_from_sys.dram_io_far", raw(0x43, 0x40)},
                              {},
                              {}}};

struct KnownCpu {
  const char* vendor;
  int family;
  int model;  ///< kAnyModel: all of the family
  const Encodings& encodings;
};

constexpr int kAnyModel = -1;
constexpr KnownCpu kKnownCpus[] = {
    {"GenuineIntel", 6, 0x3f, kHaswell},       // Haswell-EP
    {"GenuineIntel", 6, 0x4f, kHaswell},       // Broadwell-EP
    {"GenuineIntel", 6, 0x55, kSkylake},       // Skylake-SP, Cascade Lake
    {"GenuineIntel", 6, 0x6a, kIceLake},       // Ice Lake-SP
    {"GenuineIntel", 6, 0x6c, kIceLake},       // Ice Lake-D
    {"GenuineIntel", 6, 0x8f, kIceLake},       // Sapphire Rapids
    {"GenuineIntel", 6, 0xcf, kIceLake},       // Emerald Rapids
    {"GenuineIntel", 6, 0xad, kIceLake},       // Granite Rapids
    {"GenuineIntel", 6, 0xae, kIceLake},       // Granite Rapids-D
    {"AuthenticAMD", 0x17, kAnyModel, kZen2},  // Zen, Zen 2
    {"AuthenticAMD", 0x19, kAnyModel, kZen3},  // Zen 3, Zen 4
    {"AuthenticAMD", 0x1a, kAnyModel, kZen3},  // Zen 5
};

const KnownCpu* find_known(const CpuModel& cpu) {
  const auto* found = std::ranges::find_if(kKnownCpus, [&](const KnownCpu& known) {
    return cpu.vendor == known.vendor && cpu.family == known.family &&
           (known.model == kAnyModel || cpu.model == known.model);
  });
  return found == std::end(kKnownCpus) ? nullptr : found;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "name : value" of the first processor: up to the first empty line.
std::map<std::string, std::string, std::less<>> first_processor(std::string_view cpuinfo) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!cpuinfo.empty()) {
    const std::size_t length = std::min(cpuinfo.find('\n'), cpuinfo.size());
    const std::string_view line = cpuinfo.substr(0, length);
    cpuinfo.remove_prefix(std::min(length + 1, cpuinfo.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    fields.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return fields;
}

}  // namespace

CpuModel parse_cpu_model(std::string_view cpuinfo) {
  const auto fields = first_processor(cpuinfo);
  const auto text_of = [&](std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  };
  const auto number_of = [&](std::string_view name) {
    const std::string text = text_of(name);
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  CpuModel cpu{text_of("vendor_id"), number_of("cpu family"), number_of("model"), ""};
  if (!cpu.vendor.empty()) {
    cpu.text = fmt::format("{} family {:#x} model {:#x}", cpu.vendor, cpu.family, cpu.model);
  } else if (const std::string part = text_of("CPU part"); !part.empty()) {
    cpu.text = fmt::format("Arm implementer {} part {}", text_of("CPU implementer"), part);
  } else {
    cpu.text = "a CPU that /proc/cpuinfo does not name";
  }
  return cpu;
}

std::vector<CpuEvent> cpu_events(const CpuModel& cpu) {
  const KnownCpu* known = find_known(cpu);
  std::vector<CpuEvent> events;
  for (std::size_t i = 0; i < kCpuEventMetrics.size(); ++i) {
    const Encoding encoding = known == nullptr ? Encoding{} : known->encodings[i];
    CpuEvent event{kCpuEventMetrics[i], encoding.name, {}, ""};
    if (std::string_view(encoding.name).empty()) {
      event.reason = fmt::format("no such event is known of {} (cpu_events.cc)", cpu.text);
    } else {
      event.config = encoding.config;
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace numabench
