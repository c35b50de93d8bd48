// The transaction logs of pgbench -l: "client transaction latency_us script epoch_s epoch_us [lag]
// [retries]", a file a thread, hundreds of megabytes of a big run.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "runner/engines/postgres/pgbench.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// How often each latency was seen. Latencies below a second, nearly all, have a counter each.
class LatencyCounts {
 public:
  void add(std::uint64_t latency_us) {
    (latency_us < kDense ? dense_[latency_us] : sparse_[latency_us])++;
    total_++;
    const auto latency = static_cast<double>(latency_us);
    sum_ += latency;
    sum_of_squares_ += latency * latency;
    max_us_ = std::max(max_us_, latency_us);
  }

  std::uint64_t total() const { return total_; }

  LatencySummary summary() const {
    return {.logged = total_,
            .p50_us = percentile(50),
            .p95_us = percentile(95),
            .p99_us = percentile(99),
            .p999_us = percentile(99.9),
            .max_us = static_cast<double>(max_us_),
            .stddev_us = standard_deviation()};
  }

 private:
  static constexpr std::uint64_t kDense = 1 << 20;

  double percentile(double per_cent) const {
    // The product may lie a rounding error above the whole number that it is.
    const double rank = std::ceil(per_cent / 100 * static_cast<double>(total_) * (1 - 1e-12));
    std::uint64_t left = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
    for (std::size_t latency = 0; latency < dense_.size(); latency++) {
      if (dense_[latency] >= left) return static_cast<double>(latency);
      left -= dense_[latency];
    }
    for (const auto& [latency, count] : sparse_) {
      if (count >= left) return static_cast<double>(latency);
      left -= count;
    }
    return static_cast<double>(max_us_);
  }

  double standard_deviation() const {
    const auto total = static_cast<double>(total_);
    const double mean = sum_ / total;
    return std::sqrt(std::max(0.0, sum_of_squares_ / total - mean * mean));
  }

  std::vector<std::uint64_t> dense_ = std::vector<std::uint64_t>(kDense);
  std::map<std::uint64_t, std::uint64_t> sparse_;
  std::uint64_t total_ = 0;
  std::uint64_t max_us_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

/// How many ended in each second since the first one that comes here began. The first of one thread
/// is good enough for all: they begin together, and each logs many a second.
class SecondCounts {
 public:
  void add(std::int64_t end_us, std::uint64_t latency_us) {
    if (!origin_us_) origin_us_ = end_us - static_cast<std::int64_t>(latency_us);
    const auto second =
        static_cast<std::size_t>(std::max<std::int64_t>(0, end_us - *origin_us_) / kMicroseconds);
    if (second >= kLongestWindow) return;
    if (second >= counts_.size()) counts_.resize(second + 1);
    counts_[second]++;
  }

  /// Seconds in which nothing ended are there too, and 0.
  std::vector<double> per_second(double share, std::chrono::system_clock::time_point end,
                                 double seconds) const {
    if (!origin_us_) return {};
    const auto end_us =
        std::chrono::duration_cast<std::chrono::microseconds>(end.time_since_epoch()).count();
    const double whole =
        std::min(seconds, static_cast<double>(end_us - *origin_us_) / double{kMicroseconds});
    std::vector<double> result(static_cast<std::size_t>(std::max(0.0, whole)));
    for (std::size_t i = 0; i < std::min(result.size(), counts_.size()); i++) {
      result[i] = static_cast<double>(counts_[i]) / share;
    }
    return result;
  }

 private:
  static constexpr int kMicroseconds = 1'000'000;
  static constexpr std::size_t kLongestWindow = 1'000'000;  ///< seconds; beyond is no clock's time

  std::optional<std::int64_t> origin_us_;
  std::vector<std::uint64_t> counts_;
};

struct LoggedTransaction {
  std::uint64_t latency_us = 0;
  std::int64_t end_us = 0;  ///< since 1970
};

/// The next field of `line`, which it loses, as a number.
template <typename T>
bool take_number(std::string_view& line, T& number) {
  const char* const line_end = line.data() + line.size();
  const auto [end, error] = std::from_chars(line.data(), line_end, number);
  if (error != std::errc{} || (end != line_end && *end != ' ')) return false;
  line.remove_prefix(std::min(line.size(), static_cast<std::size_t>(end - line.data()) + 1));
  return true;
}

/// nullopt for a line without a latency ("failed", "skipped"), and for one that pgbench had not
/// finished when it was killed.
std::optional<LoggedTransaction> parse_line(std::string_view line) {
  int client = 0;
  std::uint64_t number = 0;
  int script = 0;
  std::int64_t seconds = 0;
  std::int64_t microseconds = 0;
  LoggedTransaction transaction;
  if (!take_number(line, client) || !take_number(line, number) ||
      !take_number(line, transaction.latency_us) || !take_number(line, script) ||
      !take_number(line, seconds) || !take_number(line, microseconds)) {
    return std::nullopt;
  }
  transaction.end_us = seconds * 1'000'000 + microseconds;
  return transaction;
}

void count_file(const fs::path& path, LatencyCounts& latencies, SecondCounts& seconds) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto transaction = parse_line(line);
    if (!transaction) continue;
    latencies.add(transaction->latency_us);
    seconds.add(transaction->end_us, transaction->latency_us);
  }
}

/// "PREFIX.PID", "PREFIX.PID.N"
bool is_log(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix + ".") &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](unsigned char c) { return c == '.' || std::isdigit(c) != 0; });
}

/// By name, whatever the order of the directory: that of the first thread comes first.
std::vector<fs::path> log_files(const fs::path& prefix) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix.parent_path())) {
    if (is_log(entry.path().filename().string(), prefix.filename().string())) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

TransactionLog read_transaction_logs(const std::string& prefix, double share,
                                     std::chrono::system_clock::time_point end, double seconds) {
  LatencyCounts latencies;
  SecondCounts counts;
  for (const fs::path& file : log_files(prefix)) count_file(file, latencies, counts);
  TransactionLog log;
  if (latencies.total() > 0) log.latency = latencies.summary();
  log.per_second = counts.per_second(share, end, seconds);
  return log;
}

}  // namespace numabench
