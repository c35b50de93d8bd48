// Which event counts what on which CPU, by the vendors' numbers.
#include "runner/measure/sensors/cpu_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/measure/sensors/perf.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using testing::HasSubstr;

std::string cpuinfo(const std::string& vendor, int family, int model) {
  std::string text;
  for (int cpu = 0; cpu < 2; ++cpu) {
    text += "processor\t: " + std::to_string(cpu) + "\nvendor_id\t: " + vendor +
            "\ncpu family\t: " + std::to_string(family) +
            "\nmodel\t\t: " + std::to_string(model + cpu) + "\nmodel name\t: A CPU\n\n";
  }
  return text;
}

TEST(CpuModel, IsThatOfTheFirstProcessor) {
  const CpuModel cpu = parse_cpu_model(cpuinfo("GenuineIntel", 6, 0x55));
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model, 0x55);
  EXPECT_EQ(cpu.text, "GenuineIntel family 0x6 model 0x55");
}

TEST(CpuModel, OfArmHasAnotherForm) {
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nBogoMIPS\t: 2100.00\nCPU implementer\t: 0x41\n"
                            "CPU architecture: 8\nCPU part\t: 0xd40\n\n")
                .text,
            "Arm implementer 0x41 part 0xd40");
  EXPECT_EQ(parse_cpu_model("").text, "a CPU that /proc/cpuinfo does not name");
}

struct Case {
  const char* vendor;
  int family;
  int model;
  std::uint64_t local_dram, remote_dram, local_hitm, remote_hitm;  ///< 0: it has none
};

class EventsOf : public testing::TestWithParam<Case> {};

TEST_P(EventsOf, AreTheVendorsNumbers) {
  const Case& test = GetParam();
  const auto events = cpu_events(parse_cpu_model(cpuinfo(test.vendor, test.family, test.model)));
  const std::uint64_t expected[] = {test.local_dram, test.remote_dram, test.local_hitm,
                                    test.remote_hitm};
  ASSERT_EQ(events.size(), std::size(expected));
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_STREQ(events[i].metric, kCpuEventMetrics[i]);
    EXPECT_EQ(events[i].config.value_or(0), expected[i]) << events[i].metric;
    EXPECT_EQ(events[i].config.has_value(), events[i].reason.empty()) << events[i].metric;
    EXPECT_EQ(std::string(events[i].name).empty(), !events[i].config) << events[i].metric;
  }
}

// As `perf stat -e rUUEE` takes them.
INSTANTIATE_TEST_SUITE_P(
    All, EventsOf,
    testing::Values(Case{"GenuineIntel", 6, 0x3f, 0x01d3, 0x04d3, 0x04d2, 0x10d3},  // Haswell
                    Case{"GenuineIntel", 6, 0x4f, 0x01d3, 0x04d3, 0x04d2, 0x10d3},  // Broadwell
                    Case{"GenuineIntel", 6, 0x55, 0x01d3, 0x02d3, 0x04d2, 0x04d3},  // z1d
                    Case{"GenuineIntel", 6, 0x6a, 0x01d3, 0x02d3, 0x04d2, 0x04d3},  // m6i
                    Case{"GenuineIntel", 6, 0xad, 0x01d3, 0x02d3, 0x04d2, 0x04d3},  // r8i
                    Case{"GenuineIntel", 6, 0x9e, 0, 0, 0, 0},                      // a desktop's
                    Case{"AuthenticAMD", 0x17, 0x31, 0x0843, 0x4043, 0, 0},         // Rome
                    Case{"AuthenticAMD", 0x19, 0x01, 0x0843, 0x4043, 0, 0},         // Milan
                    Case{"AuthenticAMD", 0x1a, 0x02, 0x0843, 0x4043, 0, 0},         // Turin
                    Case{"AuthenticAMD", 0x15, 0x02, 0, 0, 0, 0},                   // Bulldozer
                    Case{"HygonGenuine", 0x18, 0x00, 0, 0, 0, 0}));

TEST(CpuEvents, ThatAreNotThereNameTheCpu) {
  const auto events = cpu_events(parse_cpu_model(cpuinfo("AuthenticAMD", 0x19, 0x01)));
  EXPECT_THAT(events[2].reason, HasSubstr("AuthenticAMD family 0x19 model 0x1"));
}

// What the perf sensor makes of them: raw events of the server, and NULL with the reason.
TEST(CpuEvents, AreOpenedAsRawEvents) {
  TemporaryDirectory root;
  root.write("/proc/cpuinfo", cpuinfo("AuthenticAMD", 0x19, 0x01));
  root.write("/proc/17/stat", "17 (postgres) S 1 17 17 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0 0");
  MonitorTarget target;
  target.root = root.path();
  target.perf = true;
  target.processes = {{"server", 17, {}, true}};
  std::vector<std::uint64_t> raw;
  const auto sensor = make_perf_sensor(target, [&](const perf_event_attr& event, pid_t) {
    if (event.type == PERF_TYPE_RAW) raw.push_back(event.config);
    errno = ENOENT;
    return FileDescriptor(-1);
  });
  const auto values = sensor->read(1);
  EXPECT_THAT(raw, testing::ElementsAre(0x0843, 0x4043));
  EXPECT_THAT(find_value(values, "perf_remote_dram_loads_per_s")->reason,
              HasSubstr("No such file or directory (this CPU or virtual machine has no such"));
  EXPECT_THAT(find_value(values, "perf_remote_hitm_loads_per_s")->reason,
              HasSubstr("no such event is known of AuthenticAMD family 0x19 model 0x1"));
}

}  // namespace
}  // namespace numabench
