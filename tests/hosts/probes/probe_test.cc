#include "hosts/probes/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "hosts/probes/pointer_chase.h"
#include "hosts/probes/stopwatch.h"
#include "hosts/probes/storage_probe.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ProbeMatrix matrix_of(const std::string& name, const std::string& unit,
                      std::vector<std::vector<double>> values) {
  ProbeMatrix matrix{name, unit, {}, {}, std::move(values), {}};
  for (std::size_t row = 0; row < matrix.values.size(); ++row) {
    matrix.rows.push_back(static_cast<int>(row));
  }
  for (std::size_t column = 0; column < matrix.values.front().size(); ++column) {
    matrix.columns.push_back(static_cast<int>(column));
  }
  return matrix;
}

TEST(FindSuspicious, WarnsWhenRemoteMemoryIsAsNearAsLocal) {
  EXPECT_THAT(find_suspicious(matrix_of("load latency", "ns", {{90, 141}, {140, 91}})), IsEmpty());
  EXPECT_THAT(find_suspicious(matrix_of("load latency", "ns", {{115, 116}, {117, 115}})),
              ElementsAre(HasSubstr("load latency: local 115.0 and remote 116.5")));
  // Clusters of one socket: a tenth is a difference, and is what there is to see.
  EXPECT_THAT(find_suspicious(matrix_of("load latency", "ns", {{90, 99}, {99, 90}})), IsEmpty());
}

TEST(FindSuspicious, TakesBandwidthTheOtherWayRound) {
  constexpr double kGiB = 0x1p30;
  EXPECT_THAT(find_suspicious(matrix_of("read bandwidth", "B/s",
                                        {{100 * kGiB, 40 * kGiB}, {41 * kGiB, 99 * kGiB}})),
              IsEmpty());
  EXPECT_THAT(find_suspicious(matrix_of("read bandwidth", "B/s",
                                        {{70 * kGiB, 70 * kGiB}, {69 * kGiB, 70 * kGiB}})),
              ElementsAre(HasSubstr("interleav")));
}

TEST(FindSuspicious, SaysWhenRemoteIsBetterThanLocal) {
  EXPECT_THAT(find_suspicious(matrix_of("hand-over", "ns", {{1369.9, 185.6}, {190, 1300}})),
              ElementsAre(AllOf(HasSubstr("hand-over: remote 187.8 is better than local 1335.0"),
                                Not(HasSubstr("nearly equal")))));
  EXPECT_THAT(find_suspicious(matrix_of("read bandwidth", "B/s", {{1e9, 2e9}, {2e9, 1e9}})),
              ElementsAre(HasSubstr("is better than local")));
}

TEST(FindSuspicious, HasNothingToCompareOnOneNodeOrWithoutNumbers) {
  EXPECT_THAT(find_suspicious(matrix_of("load latency", "ns", {{90}})), IsEmpty());
  EXPECT_THAT(find_suspicious(matrix_of("load latency", "ns", {{std::nan(""), 90}})), IsEmpty());
}

TEST(ProbeMatrix, IsPrintedWithItsNodes) {
  ProbeMatrix matrix = matrix_of("read bandwidth", "B/s", {{2 * 0x1p30, std::nan("")}});
  matrix.rows = {3};
  matrix.columns = {0, 3};
  EXPECT_EQ(format_matrix(matrix),
            "read bandwidth, GiB/s\n"
            "                node 0    node 3\n"
            "from node 3        2.0         –\n");
}

// Each line once, and back to the beginning: nothing else is a fair walk over the region.
TEST(PointerChase, VisitsEveryLineOnce) {
  for (const std::size_t lines : {1u, 2u, 3u, 1000u}) {
    std::vector<std::byte> data(lines * kCacheLineBytes);
    void** const start = make_chase(data.data(), data.size(), 7);
    std::set<void**> seen;
    for (void** at = start; seen.insert(at).second; at = static_cast<void**>(*at)) {
      EXPECT_EQ((reinterpret_cast<std::byte*>(at) - data.data()) %
                    static_cast<std::ptrdiff_t>(kCacheLineBytes),
                0);
    }
    EXPECT_THAT(seen, SizeIs(lines));
  }
}

TEST(Stopwatch, LetsAllThreadsStepEquallyOften) {
  std::atomic<int> begun{0};
  std::atomic<std::uint64_t> steps[2] = {0, 0};
  const double seconds = seconds_per_step(
      {2, [&](int) { begun.fetch_add(1); }, [&](int thread) { steps[thread].fetch_add(1); }},
      0.001);
  EXPECT_GT(seconds, 0);
  EXPECT_GE(begun, 2);
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_GT(steps[0], 0u);
}

TEST(MemoryProbe, MeasuresEveryPairOfThisHostAndLeavesTheThreadWhereItWas) {
  const Topology topology = Topology::of_this_host();
  cpu_set_t before{}, after{};
  ::sched_getaffinity(0, sizeof before, &before);
  const MemoryProbe probe = probe_memory(topology, {4 << 20, 0.001}, [](const std::string&) {});
  ::sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));

  ASSERT_THAT(probe.matrices, SizeIs(6));
  for (const ProbeMatrix& matrix : probe.matrices) {
    SCOPED_TRACE(matrix.name);
    ASSERT_EQ(matrix.values.size(), topology.nodes_with_cpus().size());
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
      for (std::size_t column = 0; column < matrix.columns.size(); ++column) {
        const bool alone = matrix.rows[row] == matrix.columns[column] &&
                           topology.cpus_of_node(matrix.rows[row]).size() < 2;
        const double value = matrix.values[row][column];
        if (alone && !std::isfinite(value)) continue;
        EXPECT_GT(value, 0);
      }
    }
  }
  EXPECT_EQ(probe.counter.threads.front(), 1);
  EXPECT_EQ(probe.counter.threads.back(), static_cast<int>(topology.allowed_cpus().size()));
  for (const double rate : probe.counter.adds_per_second) EXPECT_GT(rate, 0);
}

TEST(StorageProbe, ReadsFiosReport) {
  const StorageProbe probe = parse_fio(
      "fio: a warning\n"
      R"({"fio version": "fio-3.33", "jobs": [{"jobname": "x", "error": 0, "read": {"iops": 12345.5,
        "clat_ns": {"mean": 81500.25, "percentile": {"50.000000": 70000, "99.000000": 250880}}}}]})",
      "/data");
  EXPECT_DOUBLE_EQ(probe.reads_per_second, 12345.5);
  EXPECT_DOUBLE_EQ(probe.mean_latency_us, 81.50025);
  EXPECT_DOUBLE_EQ(probe.p99_latency_us, 250.88);
  EXPECT_EQ(error_of([] { parse_fio("no report", "/data"); }).kind(), ErrorKind::kRun);
}

// By fio itself. What it reads a second is the disk's business; that what it says agrees with
// itself is not: with 32 reads in flight, reads a second × mean latency = 32 (Little's law).
TEST(StorageProbe, ReadsAFileByFio) {
  const TemporaryDirectory directory;
  StorageProbe probe;
  try {
    probe = probe_storage(directory.path(), 1.2, 16 << 20);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kPreflight) throw;
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(probe.directory, directory.path());
  const double in_flight = probe.reads_per_second * probe.mean_latency_us * 1e-6;
  EXPECT_GT(in_flight, 1);
  EXPECT_LT(in_flight, 33);
  EXPECT_GT(probe.p99_latency_us, 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "its file is removed";
}

TEST(StorageProbe, LeavesNoFileWhereFioFails) {
  const TemporaryDirectory directory;
  const Error error = error_of([&] { probe_storage(directory.path(), 1, 100); });
  EXPECT_THAT(error.what(), AnyOf(HasSubstr("fio failed in"), HasSubstr("install fio")));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(StorageProbe, OpensDirectoriesOnly) {
  for (const char* place : {"/dev/null", "/dev/sda", "/nowhere", "/proc/version"}) {
    EXPECT_EQ(error_of([&] { probe_storage(place, 1); }).kind(), ErrorKind::kUsage) << place;
  }
}

// A path without fio stands for a host without it.
TEST(StorageProbe, SaysThatFioIsMissing) {
  const TemporaryDirectory empty;
  const std::string before = ::getenv("PATH");
  ::setenv("PATH", empty.path().c_str(), 1);
  const Error error = error_of([&] { probe_storage(empty.path(), 1); });
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("install fio"));
}

}  // namespace
}  // namespace numabench
