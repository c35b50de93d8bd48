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
    max_us_ = std::max(max_us_, latency_us);
  }

  std::uint64_t total() const { return total_; }

  LatencySummary summary() const {
    return {.logged = total_,
            .p50_us = percentile(50),
            .p95_us = percentile(95),
            .p99_us = percentile(99),
            .p999_us = percentile(99.9),
            .max_us = static_cast<double>(max_us_)};
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

  std::vector<std::uint64_t> dense_ = std::vector<std::uint64_t>(kDense);
  std::map<std::uint64_t, std::uint64_t> sparse_;
  std::uint64_t total_ = 0;
  std::uint64_t max_us_ = 0;
};

/// The third field when it is a number: it can be "failed" or "skipped" too. A line that pgbench
/// had not finished when it was killed has fewer fields than six.
std::optional<std::uint64_t> latency_of(std::string_view line) {
  if (std::ranges::count(line, ' ') < 5) return std::nullopt;
  line.remove_prefix(line.find(' ') + 1);
  line.remove_prefix(line.find(' ') + 1);
  std::uint64_t latency_us = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), latency_us);
  if (error != std::errc{} || *end != ' ') return std::nullopt;
  return latency_us;
}

void count_file(const fs::path& path, LatencyCounts& counts) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (const auto latency_us = latency_of(line)) counts.add(*latency_us);
  }
}

/// "PREFIX.PID", "PREFIX.PID.N"
bool is_log(const std::string& name, const std::string& prefix) {
  return name.starts_with(prefix + ".") &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(),
                     [](unsigned char c) { return c == '.' || std::isdigit(c) != 0; });
}

}  // namespace

std::optional<LatencySummary> read_transaction_logs(const std::string& prefix) {
  const fs::path path(prefix);
  LatencyCounts counts;
  for (const fs::directory_entry& entry : fs::directory_iterator(path.parent_path())) {
    if (is_log(entry.path().filename().string(), path.filename().string())) {
      count_file(entry.path(), counts);
    }
  }
  if (counts.total() == 0) return std::nullopt;
  return counts.summary();
}

}  // namespace numabench
