#include "runner/engines/postgres/sweep_counters.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>
#include <utility>

#include "hosts/file_descriptor.h"
#include "hosts/system_error.h"
#include "runner/arms/counted/sweep_layout.h"

namespace numabench {
namespace {

using Header = NumabenchSweepHeader;
using Slot = NumabenchSweepSlot;

constexpr std::size_t kBuckets = std::extent_v<decltype(Slot::histogram)>;

std::uint64_t load(const std::uint64_t& counter) {
  return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

void store(std::uint64_t& counter, std::uint64_t value) {
  __atomic_store_n(&counter, value, __ATOMIC_RELAXED);
}

void add_slot(const Slot& slot, SweepTotals& totals) {
  totals.calls += load(slot.calls);
  totals.sweeps += load(slot.sweeps);
  totals.ticks += load(slot.ticks);
  totals.longest = std::max(totals.longest, load(slot.longest));
  totals.largest_claim = std::max(totals.largest_claim, load(slot.largest_claim));
  ++totals.backends;
  for (std::size_t i = 0; i < totals.histogram.size(); ++i) {
    totals.histogram[i] += load(slot.histogram[i]);
  }
}

/// The ticks that `of_ten_thousand` ÷ 10,000 of the sweeping calls did not exceed.
std::uint64_t ticks_quantile(const SweepTotals& totals, std::uint64_t of_ten_thousand) {
  const std::uint64_t calls =
      std::accumulate(totals.histogram.begin(), totals.histogram.end(), std::uint64_t{0});
  const std::uint64_t rank = (calls * of_ten_thousand + 9'999) / 10'000;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < totals.histogram.size(); ++i) {
    seen += totals.histogram[i];
    if (seen >= rank) return std::min(bucket_upper_bound(i), totals.longest);
  }
  return totals.longest;
}

constexpr std::array kQuotients = {"adv_per_victim_counted", "tail", "ticks_p999", "ticks_p9999"};

std::vector<MetricValue> absent_quotients(const std::string& reason) {
  std::vector<MetricValue> values;
  for (const char* metric : kQuotients) values.push_back(MetricValue::absent(metric, reason));
  return values;
}

/// Why the counts of single calls mean nothing; empty when they do.
std::string distrust(const SweepTotals& totals) {
  if (totals.lost > 0) {
    return fmt::format("{} allocations were made by server processes that had no slot to count in",
                       totals.lost);
  }
  if (totals.largest_claim > 1) {
    return fmt::format(
        "the hand is claimed {} buffers at a time, so that the counters cannot tell which "
        "allocation passed which",
        totals.largest_claim);
  }
  return "";
}

}  // namespace

std::uint64_t bucket_upper_bound(std::size_t index) {
  constexpr std::size_t kSubbuckets = NUMABENCH_SWEEP_SUBBUCKETS;
  if (index < kSubbuckets) return index;
  const std::size_t shift = index / kSubbuckets - 1;
  const std::uint64_t first = kSubbuckets + index % kSubbuckets;  // of the bucket, >> shift
  return ((first + 1) << shift) - 1;
}

struct SweepCounters::Mapping {
  std::string path;
  std::size_t bytes = 0;
  Header* header = nullptr;

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (header != nullptr) ::munmap(header, bytes);
    if (!path.empty()) ::unlink(path.c_str());
  }
  const Slot* slots() const { return reinterpret_cast<const Slot*>(header + 1); }
};

SweepCounters::SweepCounters(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
SweepCounters::SweepCounters(SweepCounters&&) noexcept = default;
SweepCounters& SweepCounters::operator=(SweepCounters&&) noexcept = default;
SweepCounters::~SweepCounters() = default;

SweepCounters SweepCounters::create(const std::string& path, int backends, unsigned uid,
                                    unsigned gid) {
  const FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) throw_errno("open " + path);
  auto mapping = std::make_unique<Mapping>();
  mapping->path = path;
  const auto slots = static_cast<std::uint64_t>(backends);
  mapping->bytes = numabench_sweep_file_bytes(slots);
  if (::ftruncate(file.get(), static_cast<off_t>(mapping->bytes)) != 0) {
    throw_errno("ftruncate " + path);
  }
  if (::fchown(file.get(), uid, gid) != 0) throw_errno("fchown " + path);
  void* address =
      ::mmap(nullptr, mapping->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) throw_errno("mmap " + path);
  mapping->header = static_cast<Header*>(address);
  mapping->header->version = NUMABENCH_SWEEP_VERSION;
  mapping->header->slots = slots;
  mapping->header->epoch = 1;  // slots begin with 0: of no epoch
  mapping->header->magic = NUMABENCH_SWEEP_MAGIC;
  return SweepCounters(std::move(mapping));
}

const std::string& SweepCounters::path() const { return mapping_->path; }

bool SweepCounters::is_attached() const { return load(mapping_->header->attached) > 0; }

void SweepCounters::reset() {
  Header& header = *mapping_->header;
  store(header.lost, 0);
  store(header.epoch, load(header.epoch) + 1);
}

SweepTotals SweepCounters::totals() const {
  const Header& header = *mapping_->header;
  const std::uint64_t epoch = load(header.epoch);
  SweepTotals totals;
  totals.histogram.resize(kBuckets);
  totals.lost = load(header.lost);
  for (std::uint64_t i = 0; i < header.slots; ++i) {
    const Slot& slot = mapping_->slots()[i];
    // Acquired, so that what the slot was zeroed of is not seen.
    if (__atomic_load_n(&slot.epoch, __ATOMIC_ACQUIRE) == epoch) add_slot(slot, totals);
  }
  return totals;
}

std::vector<MetricValue> sweep_values(const SweepTotals& totals) {
  const std::string reason = distrust(totals);
  if (!reason.empty()) {
    std::vector<MetricValue> values = absent_quotients(reason);
    values.push_back(MetricValue::absent("victims", reason));
    return values;
  }
  const auto sweeps = static_cast<double>(totals.sweeps);
  std::vector<MetricValue> values;
  if (totals.sweeps == 0) {
    values = absent_quotients("no allocation advanced the hand in the window");
  } else {
    const auto value = [](const char* metric, std::uint64_t ticks) {
      return MetricValue::of(metric, static_cast<double>(ticks));
    };
    values = {MetricValue::of("adv_per_victim_counted", static_cast<double>(totals.ticks) / sweeps),
              value("tail", totals.longest), value("ticks_p999", ticks_quantile(totals, 9'990)),
              value("ticks_p9999", ticks_quantile(totals, 9'999))};
  }
  values.push_back(MetricValue::of("victims", sweeps));
  return values;
}

std::string histogram_csv(const SweepTotals& totals) {
  std::string csv = "ticks_up_to,calls\n";
  for (std::size_t i = 0; i < totals.histogram.size(); ++i) {
    if (totals.histogram[i] == 0) continue;
    csv += fmt::format("{},{}\n", bucket_upper_bound(i), totals.histogram[i]);
  }
  return csv;
}

}  // namespace numabench
