#include "runner/measure/monitor.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "hosts/error.h"
#include "hosts/placement.h"
#include "reports/monitor_metrics.h"

namespace numabench {
namespace {

double thread_cpu_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

double folded(Fold fold, const std::vector<double>& values) {
  switch (fold) {
    case Fold::kMinimum:
      return *std::ranges::min_element(values);
    case Fold::kMaximum:
      return *std::ranges::max_element(values);
    case Fold::kSum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case Fold::kMean:
      break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// False when this host does not let us.
bool move_to(const IdSet& cpus) {
  Placement placement;
  placement.cpus = cpus;
  try {
    apply(placement);
  } catch (const Error&) {
    return false;  // measured all the same, from where we are
  }
  return true;
}

}  // namespace

QuietCorner::QuietCorner(const IdSet& all_cpus, const IdSet& cpus_to_keep_free) {
  IdSet others;
  std::ranges::set_difference(all_cpus, cpus_to_keep_free, std::inserter(others, others.end()));
  if (others.empty()) return;
  const auto now = observe(::getpid());
  if (now && move_to(others)) before_ = now->cpus;
}

QuietCorner::~QuietCorner() {
  if (!before_.empty()) move_to(before_);
}

Monitor::Monitor(std::vector<std::unique_ptr<Sensor>> sensors) : sensors_(std::move(sensors)) {
  look(0);
}

void Monitor::look(double t_seconds) {
  const double since = t_seconds - last_seconds_;
  const double cpu_before = thread_cpu_seconds();
  for (const auto& sensor : sensors_) {
    for (const MetricValue& value : sensor->read(since)) add(t_seconds, value);
  }
  if (since > 0) {
    const double spent = thread_cpu_seconds() - cpu_before;
    add(t_seconds, MetricValue::of("monitor_cpu_pct", 100 * spent / since));
  }
  last_seconds_ = t_seconds;
}

void Monitor::add(double t_seconds, const MetricValue& value) {
  Series& series = series_[value.metric];
  if (!value.value) {
    series.reason = value.reason;
    return;
  }
  series.values.push_back(*value.value);
  samples_.push_back({t_seconds, value.metric, *value.value});
}

MonitorRecord Monitor::finish() {
  MonitorRecord record;
  if (last_seconds_ <= 0) return record;  // the window was shorter than the first second
  for (const auto& [metric, series] : series_) {
    record.values.push_back(series.values.empty()
                                ? MetricValue::absent(metric, series.reason)
                                : MetricValue::of(metric, folded(fold_of(metric), series.values)));
  }
  record.samples = std::move(samples_);
  for (const auto& sensor : sensors_) {
    std::ranges::move(sensor->artifacts(), std::back_inserter(record.artifacts));
  }
  return record;
}

std::unique_ptr<Monitor> make_monitor(const MonitorTarget& target) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  for (const SensorEntry& entry : sensor_registry()) sensors.push_back(entry.make(target));
  return std::make_unique<Monitor>(std::move(sensors));
}

}  // namespace numabench
