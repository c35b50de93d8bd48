#include "hosts/process_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>

#include "hosts/process.h"

namespace numabench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Worker pausing_worker() {
  return Worker::fork({}, [] {
    ::pause();
    return 0;
  });
}

// Burns CPU time as this process's own clock measures it.
void use_cpu(double seconds) {
  timespec now{};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 < seconds);
}

TEST(ChildrenOf, AreOursAndNobodyElses) {
  const Worker first = pausing_worker();
  const Worker second = pausing_worker();
  EXPECT_THAT(children_of(::getpid()), ElementsAre(first.pid(), second.pid()));
  EXPECT_THAT(children_of(first.pid()), IsEmpty());
}

TEST(ProgramOf, IsTheFileThatRuns) {
  EXPECT_EQ(program_of(::getpid()), std::filesystem::canonical("/proc/self/exe"));
  EXPECT_EQ(program_of(999'999'999), "");
}

TEST(CpuSeconds, AgreeWithGetrusage) {
  use_cpu(0.3);
  const double seconds = cpu_seconds_of_tree(::getpid());
  double expected = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      expected += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  EXPECT_GE(seconds, 0.25);
  EXPECT_NEAR(seconds, expected, 0.1) << "four counts in ticks of 10 ms";
}

// A worker whose child has died and whose grandchild lives: each has used what it was told to.
TEST(CpuSeconds, CountTheLivingAndTheDead) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  Worker parent = Worker::fork({}, [&] {
    const pid_t dead = ::fork();
    if (dead == 0) {
      use_cpu(0.3);
      ::_exit(0);
    }
    ::waitpid(dead, nullptr, 0);
    if (::fork() == 0) {
      use_cpu(0.2);
      [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
      ::pause();
    }
    ::pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_GE(cpu_seconds_of_tree(parent.pid()), 0.45);
  for (const pid_t child : children_of(parent.pid())) ::kill(child, SIGKILL);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(CpuSeconds, AreZeroForAProcessThatIsGone) { EXPECT_EQ(cpu_seconds_of_tree(999'999'999), 0); }

// Lines of a real two-node host, shortened; the sums by hand.
// Each change of the mask to a CPU where it is not makes the kernel move the process.
TEST(CpuMigrations, CountTheMovesFromCpuToCpu) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one CPU";
  const auto before = cpu_migrations(::getpid());
  if (!before) GTEST_SKIP() << "the kernel does not count";
  constexpr int kMoves = 10;
  for (int move = 0, cpu = 0; move < kMoves; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu % CPU_SETSIZE), &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu % CPU_SETSIZE), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    ++move;
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof allowed, &allowed), 0);
  // It may have been on the first of them already.
  EXPECT_GE(cpu_migrations(::getpid()).value_or(0) - *before, kMoves - 1);
}

TEST(CpuMigrations, AreAbsentForAProcessThatIsGone) { EXPECT_FALSE(cpu_migrations(999'999'999)); }

TEST(NumaMaps, PoliciesOfTwoWordsAreRead) {
  const auto mappings = parse_numa_maps(
      "7f0000000000 prefer (many):0-1 anon=3 N1=3 kernelpagesize_kB=4\n"
      "7f0000200000 weighted interleave:0-1 file=/anon_hugepage\\040(deleted) huge N0=2 "
      "kernelpagesize_kB=2048\n"
      "7f0000600000 prefer:1 stack anon=1 N1=1 kernelpagesize_kB=4\n");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].policy, "prefer (many):0-1");
  EXPECT_EQ(mappings[1].policy, "weighted interleave:0-1");
  EXPECT_EQ(mappings[1].page_bytes, 2u << 20);
  EXPECT_EQ(mappings[1].bytes_by_node.at(0), 4u << 20);
  EXPECT_EQ(mappings[2].policy, "prefer:1");
}

TEST(NumaMaps, AreParsed) {
  const auto mappings = parse_numa_maps(
      "55d0c0a00000 default file=/usr/lib/postgresql/16/bin/postgres mapped=171 mapmax=9 "
      "active=0 N0=171 kernelpagesize_kB=4\n"
      "7f3a40000000 interleave:0-1 file=/anon_hugepage\\040(deleted) huge dirty=3 N0=2 N1=1 "
      "kernelpagesize_kB=2048\n"
      "7f3b00000000 bind:1 file=/dev/zero\\040(deleted) dirty=25 mapmax=2 N1=25 "
      "kernelpagesize_kB=4\n"
      "7f3c00000000 default file=/tmp/with\\040blank N12=1 kernelpagesize_kB=64\n"
      "7ffd00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n"
      "7ffe00000000 default\n"
      "\n"
      "not a mapping\n");
  ASSERT_EQ(mappings.size(), 6u);
  EXPECT_EQ(mappings[0].address, 0x55d0c0a00000u);
  EXPECT_EQ(mappings[0].policy, "default");
  EXPECT_EQ(mappings[0].file, "/usr/lib/postgresql/16/bin/postgres");
  EXPECT_THAT(mappings[0].bytes_by_node, ElementsAre(Pair(0, 171u * 4096)));
  EXPECT_FALSE(mappings[0].huge);
  EXPECT_EQ(mappings[1].policy, "interleave:0-1");
  EXPECT_EQ(mappings[1].file, "/anon_hugepage");
  EXPECT_TRUE(mappings[1].huge);
  EXPECT_THAT(mappings[1].bytes_by_node, ElementsAre(Pair(0, 2u * 2097152), Pair(1, 1u * 2097152)));
  EXPECT_EQ(mappings[2].file, "/dev/zero");
  EXPECT_THAT(mappings[2].bytes_by_node, ElementsAre(Pair(1, 25u * 4096)));
  EXPECT_EQ(mappings[3].file, "/tmp/with blank");
  EXPECT_THAT(mappings[3].bytes_by_node, ElementsAre(Pair(12, 65536u)));
  EXPECT_EQ(mappings[4].file, "");
  EXPECT_THAT(mappings[5].bytes_by_node, IsEmpty());
}

TEST(NumaMaps, OfThisProcessHaveWhatItTouched) {
  const auto before = numa_mappings(::getpid());
  if (!before) GTEST_SKIP() << "a kernel without numa_maps";
  constexpr std::size_t kBytes = 64 * 4096;
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (std::size_t offset = 0; offset < kBytes / 2; offset += 4096) {
    static_cast<char*>(memory)[offset] = 1;
  }
  std::uint64_t bytes = 0;
  const auto mappings = numa_mappings(::getpid());
  ASSERT_TRUE(mappings);
  for (const NumaMapping& mapping : *mappings) {
    if (mapping.address != reinterpret_cast<std::uintptr_t>(memory)) continue;
    for (const auto& [node, on_node] : mapping.bytes_by_node) bytes += on_node;
    EXPECT_EQ(mapping.file, "/dev/zero");
  }
  ::munmap(memory, kBytes);
  EXPECT_EQ(bytes, kBytes / 2);
}

TEST(NumaMaps, AreAbsentForAProcessThatIsGone) { EXPECT_FALSE(numa_mappings(999'999'999)); }

}  // namespace
}  // namespace numabench
