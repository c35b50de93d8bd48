// The axes of a figure: ranges, scales and tics, decided from the data.
#pragma once

#include <string>
#include <vector>

#include "reports/metric.h"

namespace numabench {

struct Tic {
  double at = 0;
  std::string label;
};

struct Axis {
  bool logarithmic = false;
  double low = 0;
  double high = 1;
  std::vector<Tic> tics;
};

/// Where the ratios are, and by how much the lines are moved apart so that no bar hides another.
class RatioAxis {
 public:
  /// `ratios` ascending and distinct, not empty. Logarithmic when they span a factor of four.
  RatioAxis(const std::vector<double>& ratios, std::size_t lines);

  const Axis& axis() const { return axis_; }
  /// Labels of neighbouring tics would run into each other side by side.
  bool crowded() const { return crowded_; }
  /// Where line `line` has its point of `ratio`.
  double position(double ratio, std::size_t line) const;

 private:
  double forward(double ratio) const;
  double backward(double place) const;

  Axis axis_;
  bool crowded_ = false;
  double step_ = 0;  ///< between neighbouring lines, as forward() measures
  std::size_t lines_ = 1;
};

/// The axis for numbers of `metric` from `minimum` to `maximum`: logarithmic when they are positive
/// and span a factor of ten; else from 0, unless the smallest is above half of the largest.
Axis value_axis(const Metric& metric, double minimum, double maximum);

}  // namespace numabench
