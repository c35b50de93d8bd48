#include "hosts/disk_stats.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hosts/file_descriptor.h"
#include "hosts/process.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

std::string findmnt(const std::string& column, const std::string& path) {
  std::string text = run_command({"findmnt", "-no", column, "-T", path}).out;
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(DeviceOf, IsTheOneThatFindmntNames) {
  const TemporaryDirectory directory;
  const std::string device = device_of(directory.path());
  const std::string source = findmnt("SOURCE", directory.path());
  if (!source.starts_with("/dev/")) {
    EXPECT_EQ(device, "") << "no device below " << source;
    return;
  }
  EXPECT_EQ("/dev/" + device, std::filesystem::canonical(source));
}

TEST(DeviceOf, IsEmptyWithoutOne) {
  EXPECT_EQ(device_of("/proc"), "");
  EXPECT_EQ(device_of("/no/such/path"), "");
}

TEST(DiskCounters, AreAbsentForWhatIsNoDevice) {
  EXPECT_FALSE(read_disk_counters("no-such-device"));
  EXPECT_FALSE(read_disk_counters(""));
}

// /sys/block/NAME/stat has the same counters in a file of its own.
TEST(DiskCounters, AreThoseOfSys) {
  const TemporaryDirectory directory;
  const std::string device = device_of(directory.path());
  if (device.empty()) GTEST_SKIP() << "no device below " << directory.path();
  const auto before = read_disk_counters(device);
  std::ifstream file("/sys/class/block/" + device + "/stat");
  std::uint64_t reads, merged, sectors_read, ms, writes, sectors_written, in_flight, busy_ms;
  file >> reads >> merged >> sectors_read >> ms >> writes >> merged >> sectors_written >> ms >>
      in_flight >> busy_ms;
  ASSERT_TRUE(file.good());
  const auto after = read_disk_counters(device);
  ASSERT_TRUE(before && after);
  // Others use the disk meanwhile.
  const auto between = [](auto low, auto value, auto high) {
    return low <= value && value <= high;
  };
  EXPECT_TRUE(between(before->reads, reads, after->reads));
  EXPECT_TRUE(between(before->bytes_read, sectors_read * 512, after->bytes_read));
  EXPECT_TRUE(between(before->writes, writes, after->writes));
  EXPECT_TRUE(between(before->bytes_written, sectors_written * 512, after->bytes_written));
  EXPECT_TRUE(
      between(before->busy_seconds, static_cast<double>(busy_ms) / 1e3, after->busy_seconds));
}

TEST(DiskCounters, GrowByWhatIsWritten) {
  const TemporaryDirectory directory;
  const std::string device = device_of(directory.path());
  if (device.empty()) GTEST_SKIP() << "no device below " << directory.path();
  const auto before = read_disk_counters(device);
  const std::string path = directory.write("file", std::string(1'000'000, 'x'));
  const FileDescriptor file(::open(path.c_str(), O_RDONLY));
  ASSERT_EQ(::fsync(file.get()), 0);
  const auto after = read_disk_counters(device);
  ASSERT_TRUE(before && after);
  EXPECT_GE(after->bytes_written - before->bytes_written, 1'000'000u);
  EXPECT_GT(after->writes, before->writes);
}

}  // namespace
}  // namespace numabench
