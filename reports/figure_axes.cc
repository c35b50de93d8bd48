#include "reports/figure_axes.h"

#include <algorithm>
#include <cmath>

#include "hosts/units.h"
#include "reports/formats/grid.h"

namespace numabench {
namespace {

constexpr double kMargin = 0.06;          // of the span, beside the first and last ratio
constexpr double kDodge = 0.010;          // of the span, between neighbouring lines …
constexpr double kDodgeAlone = 0.08;      // … and where there is one ratio only
constexpr double kLabelWidth = 0.05;      // of the span, that a label needs
constexpr double kLogarithmicFrom = 10;   // largest ÷ smallest value
constexpr double kLogarithmicRatios = 4;  // largest ÷ smallest ratio
constexpr double kSameValue = 1e-9;       // of the largest, a difference that is rounding
constexpr int kTics = 8;

/// The nearest of 1, 2, 5 × 10^n that is not below `step`.
double nice_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

bool in_bytes(const Metric& metric) { return metric.unit == "B" || metric.unit == "B/s"; }

/// Bytes get round numbers of their binary unit.
double unit_of(const Metric& metric, double maximum) {
  if (!in_bytes(metric) || maximum < 1024) return 1;
  return std::pow(1024, std::floor(std::log2(maximum) / 10));
}

/// With as many digits as tell it from one that is `step` away.
std::string tic_label(const Metric& metric, double value, double step, double unit) {
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)));
  const std::string number = format_count(value / unit, decimals);
  if (!in_bytes(metric)) return number;
  const std::string one = format_value(unit, metric);  // "1 GiB/s"
  return number + one.substr(one.find(' '));
}

std::vector<Tic> linear_tics(const Metric& metric, double low, double high) {
  const double unit = unit_of(metric, high);
  const double step = nice_step((high - low) / unit / kTics) * unit;
  std::vector<Tic> tics;
  // The sum turns a negative zero, which would be labelled "-0", into zero.
  for (double n = std::ceil(low / step - 1e-9) + 0.0; n * step <= high * (1 + 1e-9); ++n) {
    tics.push_back({n * step, tic_label(metric, n * step, step, unit)});
  }
  return tics;
}

/// Powers of two, few enough to read.
std::vector<Tic> binary_tics(const Metric& metric, double low, double high) {
  const double factor = std::exp2(std::ceil(std::log2(high / low) / kTics));
  std::vector<Tic> tics;
  for (double value = std::exp2(std::ceil(std::log2(low))); value <= high; value *= factor) {
    tics.push_back({value, format_value(value, metric)});
  }
  return tics;
}

/// Powers of ten; within less than three decades 2 and 5 as well.
std::vector<Tic> logarithmic_tics(const Metric& metric, double low, double high) {
  const bool fine = high / low < 1000;
  std::vector<Tic> tics;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      const bool inside = value >= low && value <= high;
      if (inside && (fine || factor == 1))
        tics.push_back({value, tic_label(metric, value, power, 1)});
    }
  }
  return tics;
}

}  // namespace

RatioAxis::RatioAxis(const std::vector<double>& ratios, std::size_t lines) : lines_(lines) {
  axis_.logarithmic = ratios.front() > 0 && ratios.back() / ratios.front() >= kLogarithmicRatios;
  const double first = forward(ratios.front());
  const double last = forward(ratios.back());
  const double span = last > first ? last - first : 1;
  double nearest = span;
  for (std::size_t i = 1; i < ratios.size(); ++i) {
    nearest = std::min(nearest, forward(ratios[i]) - forward(ratios[i - 1]));
  }
  // All lines of a ratio together stay nearer to it than to its neighbours.
  const double dodge = ratios.size() == 1 ? kDodgeAlone : kDodge;
  step_ = std::min(dodge * span, nearest / 3 / static_cast<double>(lines));
  crowded_ = nearest < kLabelWidth * span;
  const double margin = ratios.size() == 1 ? span / 2 : kMargin * span;
  axis_.low = backward(first - margin);
  axis_.high = backward(last + margin);
  for (const double ratio : ratios) axis_.tics.push_back({ratio, format_exact(ratio)});
}

double RatioAxis::position(double ratio, std::size_t line) const {
  const double middle = static_cast<double>(lines_ - 1) / 2;
  return backward(forward(ratio) + (static_cast<double>(line) - middle) * step_);
}

double RatioAxis::forward(double ratio) const {
  return axis_.logarithmic ? std::log2(ratio) : ratio;
}

double RatioAxis::backward(double place) const {
  return axis_.logarithmic ? std::exp2(place) : place;
}

Axis value_axis(const Metric& metric, double minimum, double maximum) {
  Axis axis;
  axis.logarithmic = minimum > 0 && maximum / minimum >= kLogarithmicFrom;
  if (axis.logarithmic) {
    axis.low = minimum / 1.5;
    axis.high = maximum * 1.5;
    axis.tics = in_bytes(metric) ? binary_tics(metric, axis.low, axis.high)
                                 : logarithmic_tics(metric, axis.low, axis.high);
    return axis;
  }
  const bool equal = maximum - minimum <= kSameValue * maximum;
  const bool from_zero = minimum >= 0 && (minimum < maximum / 2 || equal);
  const double span = from_zero ? (maximum > 0 ? maximum : 1) : maximum - minimum;
  axis.low = from_zero ? 0 : minimum - 0.15 * span;
  axis.high = maximum + 0.15 * span;
  axis.tics = linear_tics(metric, axis.low, axis.high);
  return axis;
}

}  // namespace numabench
