#include "runner/engines/postgres/sweep_counters.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "hosts/files.h"
#include "hosts/process.h"
#include "runner/arms/counted/sweep_layout.h"
#include "tests/hosts/temporary_directory.h"
#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

// As much of a server's headers as freelist_counted.c wants. Numbers of processes are where the
// version has them.
constexpr const char* kPostgresHeader = R"(
#pragma once
#include <stddef.h>
#include <stdint.h>
#define PG_VERSION_NUM @version@
typedef uint32_t uint32;
typedef uint64_t uint64;
)";
constexpr const char* kAtomicsHeader = R"(
#pragma once
typedef struct { volatile uint32 value; } pg_atomic_uint32;
typedef struct { volatile uint64 value; } pg_atomic_uint64;
static inline uint32 pg_atomic_fetch_add_u32(volatile pg_atomic_uint32 *ptr, int addend) {
  return __atomic_fetch_add(&ptr->value, (uint32) addend, __ATOMIC_SEQ_CST);
}
static inline uint64 pg_atomic_fetch_add_u64(volatile pg_atomic_uint64 *ptr, int64_t addend) {
  return __atomic_fetch_add(&ptr->value, (uint64) addend, __ATOMIC_SEQ_CST);
}
)";
constexpr const char* kProcHeader = R"(
#pragma once
#if PG_VERSION_NUM >= 170000
extern int MyProcNumber;
#else
typedef struct { int lead; int pgprocno; } PGPROC;
extern PGPROC *MyProc;
#endif
)";

// What is the same in all arms: a call advances the hand as often as `ticks_wanted` says.
constexpr const char* kArmBegin = R"(
#include "postgres.h"
#include "port/atomics.h"
#include "storage/proc.h"
#if PG_VERSION_NUM >= 170000
int MyProcNumber = -1;
void become(int number) { MyProcNumber = number; }
#else
static PGPROC own;
PGPROC *MyProc = NULL;
void become(int number) { own.pgprocno = number; MyProc = &own; }
#endif
int ticks_wanted = 0;
typedef struct {
  pg_atomic_uint32 nextVictimBuffer;
  pg_atomic_uint64 nextVictimBuffer64;
  pg_atomic_uint32 numBufferAllocs;
} Control;
static Control control;
static Control *StrategyControl = &control;
)";

constexpr const char* kTwoArguments = R"(
static inline uint32 ClockSweepTick(void);
static inline uint32 ClockSweepTick(void) {
  return pg_atomic_fetch_add_u32(&StrategyControl->nextVictimBuffer, 1);
}
void *StrategyGetBuffer(void *strategy, uint32 *buf_state) {
  pg_atomic_fetch_add_u32(&StrategyControl->numBufferAllocs, 1);
  for (int i = 0; i < ticks_wanted; i++)
    *buf_state = ClockSweepTick();
  return strategy;
}
)";

constexpr const char* kBatchedThreeArguments = R"(
#include <stdbool.h>
static uint32 next = 0, end = 0;
static inline uint32 ClockSweepTick(void) {
  if (next == end) {
    next = pg_atomic_fetch_add_u32(&StrategyControl->nextVictimBuffer, 32);
    end = next + 32;
  }
  return next++;
}
void *StrategyGetBuffer(void *strategy, uint64 *buf_state, bool *from_ring) {
  pg_atomic_fetch_add_u32(&StrategyControl->numBufferAllocs, 1);
  for (int i = 0; i < ticks_wanted; i++)
    *buf_state = ((uint64) 1 << 40) + ClockSweepTick();
  *from_ring = ticks_wanted == 0;
  return strategy;
}
)";

constexpr const char* kPartitioned = R"(
static inline uint32 ClockSweepTick(int partition) {
  if (partition == 0)
    return pg_atomic_fetch_add_u32(&StrategyControl->nextVictimBuffer, 1);
  return (uint32) pg_atomic_fetch_add_u64(&StrategyControl[0].nextVictimBuffer64, 1);
}
void *StrategyGetBuffer(void *strategy, uint32 *buf_state) {
  pg_atomic_fetch_add_u32(&StrategyControl->numBufferAllocs, 1);
  for (int i = 0; i < ticks_wanted; i++)
    *buf_state = ClockSweepTick(i % 2);
  return strategy;
}
)";

/// An arm's StrategyGetBuffer, compiled with the counters as a builder does it, in this process:
/// its constructor runs as it is loaded, as a server's does before main().
class CountedArm {
 public:
  CountedArm(const std::string& arm, const std::string& method, int version) {
    const std::string counted = source_dir() + "/runner/arms/counted/";
    std::string postgres = kPostgresHeader;
    postgres.replace(postgres.find("@version@"), 9, std::to_string(version));
    directory_.write("postgres.h", postgres);
    directory_.write("port/atomics.h", kAtomicsHeader);
    directory_.write("storage/proc.h", kProcHeader);
    directory_.write("freelist_arm.c", kArmBegin + arm);
    directory_.write("freelist.c", "#define NUMABENCH_METHOD_" + method + "\n" +
                                       read_text_file(counted + "freelist_counted.c").value());
    fs::copy_file(counted + "sweep_layout.h", file("sweep_layout.h"));
    compilation_ =
        run_command({"cc", "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                     "-I" + directory_.path(), file("freelist.c"), "-o", file("arm.so")});
  }
  CountedArm(const CountedArm&) = delete;
  CountedArm& operator=(const CountedArm&) = delete;
  ~CountedArm() {
    if (library_ != nullptr) ::dlclose(library_);
  }

  const CommandResult& compilation() const { return compilation_; }

  void load(const std::string& counters) {
    ASSERT_TRUE(compilation_.ok()) << compilation_.err;
    if (!counters.empty()) ::setenv(NUMABENCH_SWEEP_VARIABLE, counters.c_str(), 1);
    library_ = ::dlopen(file("arm.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ::unsetenv(NUMABENCH_SWEEP_VARIABLE);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }

  template <typename Symbol>
  Symbol* symbol(const char* name) const {
    return reinterpret_cast<Symbol*>(::dlsym(library_, name));
  }
  void become(int number) const { symbol<void(int)>("become")(number); }
  void set_ticks(int ticks) const { *symbol<int>("ticks_wanted") = ticks; }

  /// A call of StrategyGetBuffer(strategy, &state) that passes so many buffers.
  std::uint32_t call(int ticks) const {
    set_ticks(ticks);
    std::uint32_t state = 0;
    void* strategy = &state;
    EXPECT_EQ(symbol<void*(void*, std::uint32_t*)>("StrategyGetBuffer")(strategy, &state),
              strategy);
    return state;
  }

 private:
  std::string file(const std::string& name) const { return directory_.path() + "/" + name; }

  TemporaryDirectory directory_;
  CommandResult compilation_;
  void* library_ = nullptr;
};

class SweepCountersTest : public ::testing::Test {
 protected:
  SweepCounters create(int slots) const {
    return SweepCounters::create(path(), slots, ::geteuid(), ::getegid());
  }
  std::string path() const { return directory_.path() + "/counters"; }

 private:
  TemporaryDirectory directory_;
};

// Of process `number`; every 37th passes none, as from a freelist.
int ticks_of(int number, int call) {
  if (call % 37 == 0) return 0;
  return number == 2 && call == 500 ? 100'000 : 1 + (call * 7 + number * 13) % 300;
}

/// `processes` children at the same time, each of which makes `calls` calls.
void run_processes(const CountedArm& arm, int processes, int calls) {
  std::vector<Worker> workers;
  for (int number = 0; number < processes; ++number) {
    workers.push_back(Worker::fork({}, [&arm, number, calls] {
      arm.become(number);
      for (int call = 0; call < calls; ++call) arm.call(ticks_of(number, call));
      return 0;
    }));
  }
  for (Worker& worker : workers) EXPECT_TRUE(worker.wait(std::chrono::minutes(1)).ok());
}

/// All calls' ticks that passed any buffer, ascending.
std::vector<std::uint64_t> expected_sweeps(int processes, int calls) {
  std::vector<std::uint64_t> ticks;
  for (int number = 0; number < processes; ++number) {
    for (int call = 0; call < calls; ++call) {
      if (ticks_of(number, call) > 0) {
        ticks.push_back(static_cast<std::uint64_t>(ticks_of(number, call)));
      }
    }
  }
  std::ranges::sort(ticks);
  return ticks;
}

/// Of the whole histogram, call by call.
void expect_histogram(const SweepTotals& totals, const std::vector<std::uint64_t>& ticks) {
  std::map<std::uint64_t, std::uint64_t> by_bound;
  for (std::size_t i = 0; i < totals.histogram.size(); ++i) {
    if (totals.histogram[i] > 0) by_bound[bucket_upper_bound(i)] = totals.histogram[i];
  }
  std::map<std::uint64_t, std::uint64_t> expected;
  for (const std::uint64_t n : ticks) ++expected[by_bound.lower_bound(n)->first];
  EXPECT_EQ(by_bound, expected);
}

void expect_totals(const SweepTotals& totals, int processes, int calls) {
  const std::vector<std::uint64_t> ticks = expected_sweeps(processes, calls);
  std::uint64_t sum = 0;
  for (const std::uint64_t n : ticks) sum += n;
  EXPECT_EQ(totals.calls,
            static_cast<std::uint64_t>(processes) * static_cast<std::uint64_t>(calls));
  EXPECT_EQ(totals.sweeps, ticks.size());
  EXPECT_EQ(totals.ticks, sum);
  EXPECT_EQ(totals.longest, ticks.back());
  EXPECT_EQ(totals.largest_claim, 1u);
  EXPECT_EQ(totals.backends, static_cast<std::uint64_t>(processes));
  EXPECT_EQ(totals.lost, 0u);
  expect_histogram(totals, ticks);
}

double value_of(const std::vector<MetricValue>& values, const std::string& metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  EXPECT_TRUE(found != values.end() && found->value) << metric;
  return found->value.value_or(-1);
}

TEST_F(SweepCountersTest, TicksOfConcurrentProcessesAreExact) {
  const SweepCounters counters = create(4);
  CountedArm arm(kTwoArguments, "TICK", 150000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  run_processes(arm, 4, 1000);
  expect_totals(counters.totals(), 4, 1000);
}

TEST_F(SweepCountersTest, HandsOfPartitionsAreExactWhereTheHelperTakesAnArgument) {
  const SweepCounters counters = create(4);
  CountedArm arm(kPartitioned, "HAND", 200000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  run_processes(arm, 4, 1000);
  expect_totals(counters.totals(), 4, 1000);
}

TEST_F(SweepCountersTest, BothMethodsAgree) {
  const SweepCounters counters = create(4);
  CountedArm arm(kTwoArguments, "HAND", 170000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  run_processes(arm, 4, 1000);
  expect_totals(counters.totals(), 4, 1000);
}

TEST_F(SweepCountersTest, HelperWithAnArgumentDoesNotCompileByTicks) {
  const CountedArm arm(kPartitioned, "TICK", 200000);
  EXPECT_FALSE(arm.compilation().ok());
  EXPECT_THAT(arm.compilation().err, HasSubstr("ClockSweepTick"));
}

TEST_F(SweepCountersTest, ArgumentsAndResultPassUnchanged) {
  const SweepCounters counters = create(1);
  CountedArm arm(kBatchedThreeArguments, "TICK", 200000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  arm.become(0);
  auto* get_buffer = arm.symbol<void*(void*, std::uint64_t*, bool*)>("StrategyGetBuffer");
  std::uint64_t state = 0;
  bool from_ring = true;
  arm.set_ticks(3);
  EXPECT_EQ(get_buffer(&state, &state, &from_ring), &state);
  EXPECT_EQ(state, (std::uint64_t{1} << 40) + 2);
  EXPECT_FALSE(from_ring);
  arm.set_ticks(0);
  EXPECT_EQ(get_buffer(nullptr, &state, &from_ring), nullptr);
  EXPECT_TRUE(from_ring);
  const SweepTotals totals = counters.totals();
  EXPECT_EQ(totals.calls, 2u);
  EXPECT_EQ(totals.sweeps, 1u);
  EXPECT_EQ(totals.ticks, 3u);  // of the batch of 32
}

TEST_F(SweepCountersTest, BatchesAreCountedWholeByTheHandAndMakeCallsUncertain) {
  const SweepCounters counters = create(1);
  CountedArm arm(kBatchedThreeArguments, "HAND", 200000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  arm.become(0);
  auto* get_buffer = arm.symbol<void*(void*, std::uint64_t*, bool*)>("StrategyGetBuffer");
  std::uint64_t state = 0;
  bool from_ring = false;
  arm.set_ticks(5);
  for (int call = 0; call < 64; ++call) get_buffer(nullptr, &state, &from_ring);
  const SweepTotals totals = counters.totals();
  EXPECT_EQ(totals.ticks, 64u * 5u);  // ten batches, to the last buffer
  EXPECT_EQ(totals.largest_claim, 32u);
  const std::vector<MetricValue> values = sweep_values(totals);
  EXPECT_EQ(values.size(), 5u);
  EXPECT_THAT(values, Each(AllOf(Field(&MetricValue::value, std::nullopt),
                                 Field(&MetricValue::reason, HasSubstr("32 buffers at a time")))));
}

TEST_F(SweepCountersTest, ResetForgetsLivingAndDeadProcesses) {
  SweepCounters counters = create(4);
  CountedArm arm(kTwoArguments, "TICK", 150000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  run_processes(arm, 4, 1000);
  arm.become(3);
  arm.call(77);
  counters.reset();
  EXPECT_EQ(counters.totals().calls, 0u);
  EXPECT_EQ(counters.totals().backends, 0u);
  arm.call(5);
  arm.call(0);
  const SweepTotals totals = counters.totals();
  EXPECT_EQ(totals.calls, 2u);
  EXPECT_EQ(totals.backends, 1u);
  EXPECT_EQ(totals.ticks, 5u);
  EXPECT_EQ(totals.longest, 5u);
  expect_histogram(totals, {5});
}

TEST_F(SweepCountersTest, ProcessWithTheNumberOfADeadOneGoesOnInItsSlot) {
  const SweepCounters counters = create(4);
  CountedArm arm(kTwoArguments, "TICK", 170000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  run_processes(arm, 2, 100);
  run_processes(arm, 2, 100);
  const SweepTotals totals = counters.totals();
  EXPECT_EQ(totals.backends, 2u);
  EXPECT_EQ(totals.calls, 400u);
}

TEST_F(SweepCountersTest, CallsWithoutASlotMakeAllAbsent) {
  SweepCounters counters = create(2);
  CountedArm arm(kTwoArguments, "TICK", 170000);
  ASSERT_NO_FATAL_FAILURE(arm.load(counters.path()));
  arm.call(9);  // of no process number yet
  run_processes(arm, 3, 100);
  const SweepTotals totals = counters.totals();
  EXPECT_EQ(totals.lost, 101u);
  EXPECT_EQ(totals.calls, 200u);
  const std::vector<MetricValue> values = sweep_values(totals);
  EXPECT_EQ(values.size(), 5u);
  EXPECT_THAT(values, Each(AllOf(Field(&MetricValue::value, std::nullopt),
                                 Field(&MetricValue::reason, HasSubstr("101 allocations")))));
  counters.reset();
  EXPECT_EQ(counters.totals().lost, 0u);
}

TEST_F(SweepCountersTest, ServerWithoutTheVariableCountsNothing) {
  const SweepCounters counters = create(2);
  CountedArm arm(kTwoArguments, "TICK", 170000);
  ASSERT_NO_FATAL_FAILURE(arm.load(""));
  arm.become(0);
  EXPECT_EQ(arm.call(9), 8u);  // the hand began at 0
  EXPECT_FALSE(counters.is_attached());
  EXPECT_EQ(counters.totals().calls, 0u);
}

TEST_F(SweepCountersTest, FilesThatAreNotOursAreLeftAlone) {
  const std::string foreign = path() + ".foreign";
  for (const std::string& text : {std::string(), std::string("short"), std::string(9000, 'x')}) {
    std::ofstream(foreign) << text;
    CountedArm arm(kTwoArguments, "TICK", 170000);
    ASSERT_NO_FATAL_FAILURE(arm.load(foreign));
    arm.become(0);
    EXPECT_EQ(arm.call(3), 2u);
    EXPECT_EQ(read_text_file(foreign), text);
  }
}

TEST_F(SweepCountersTest, FileBelongsToTheServersUserAndGoesWithItsOwner) {
  const unsigned uid = ::geteuid() == 0 ? 12345 : ::geteuid();
  const unsigned gid = ::geteuid() == 0 ? 12346 : ::getegid();
  {
    const SweepCounters counters = SweepCounters::create(path(), 300, uid, gid);
    struct stat status {};
    ASSERT_EQ(::stat(counters.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, uid);
    EXPECT_EQ(status.st_gid, gid);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
    EXPECT_LT(status.st_blocks * 512, 1 << 20);  // sparse
    EXPECT_FALSE(counters.is_attached());
  }
  EXPECT_FALSE(fs::exists(path()));
}

TEST(SweepBucketsTest, EachValueIsInItsBucketAndNoBoundIsFarAbove) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t v = 0; v < 70'000; ++v) values.push_back(v);
  for (int bit = 17; bit < 32; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1, power + power / 3});
  }
  values.push_back(UINT32_MAX);
  for (const std::uint64_t v : values) {
    const unsigned bucket = numabench_sweep_bucket(v);
    ASSERT_LT(bucket, static_cast<unsigned>(NUMABENCH_SWEEP_BUCKETS));
    const std::uint64_t bound = bucket_upper_bound(bucket);
    ASSERT_GE(bound, v);
    if (bucket > 0) {
      ASSERT_LT(bucket_upper_bound(bucket - 1), v);
    }
    ASSERT_EQ(bound == v || v >= 128, true) << v;
    ASSERT_LE(static_cast<double>(bound), static_cast<double>(v) * (1 + 1.0 / 64)) << v;
  }
  EXPECT_EQ(numabench_sweep_bucket(UINT64_MAX), NUMABENCH_SWEEP_BUCKETS - 1u);
}

TEST(SweepValuesTest, AreThoseOfTheSortedCalls) {
  // 20,000 calls of 2 ticks, 15 of 100, 4 of 1,000 and the longest of 5,001.
  SweepTotals totals;
  totals.sweeps = 20'020;
  totals.calls = 30'000;
  totals.ticks = 20'000 * 2 + 15 * 100 + 4 * 1'000 + 5'001;
  totals.longest = 5'001;
  totals.largest_claim = 1;
  totals.histogram.resize(NUMABENCH_SWEEP_BUCKETS);
  totals.histogram[numabench_sweep_bucket(2)] = 20'000;
  totals.histogram[numabench_sweep_bucket(100)] = 15;
  totals.histogram[numabench_sweep_bucket(1'000)] = 4;
  totals.histogram[numabench_sweep_bucket(5'001)] = 1;
  const std::vector<MetricValue> values = sweep_values(totals);
  EXPECT_NEAR(value_of(values, "adv_per_victim_counted"), 50'501.0 / 20'020.0, 1e-12);
  EXPECT_EQ(value_of(values, "tail"), 5'001);
  EXPECT_EQ(value_of(values, "ticks_p999"), 2);  // rank 20,000 of 20,020, the last of the twos
  EXPECT_NEAR(value_of(values, "ticks_p9999"), 1'000, 1'000 / 64.0);  // rank 20,018
  EXPECT_EQ(value_of(values, "victims"), 20'020);
  EXPECT_EQ(histogram_csv(totals), "ticks_up_to,calls\n2,20000\n100,15\n1007,4\n5055,1\n");
}

TEST(SweepValuesTest, NoSweepIsNoVictimAndNoQuotient) {
  const std::vector<MetricValue> values = sweep_values(SweepTotals{});
  EXPECT_EQ(value_of(values, "victims"), 0);
  for (const MetricValue& value : values) {
    if (value.metric == "victims") continue;
    EXPECT_FALSE(value.value) << value.metric;
    EXPECT_THAT(value.reason, HasSubstr("advanced the hand"));
  }
}

}  // namespace
}  // namespace numabench
