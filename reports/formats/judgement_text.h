// Judgements in words and numbers, for every format that prints them.
#pragma once

#include <string>

#include "reports/comparison.h"

namespace numabench {

/// "101.8 % (101.2–102.4)": the geometric mean of the pairs' ratios and its 95 % interval, in
/// percent of the baseline.
std::string paired_ratio_text(const Difference& difference);
/// "better", "none beyond ±0.8 %", "inconclusive"; "A/A ±1.2 %" of a copy.
std::string short_verdict(const Judgement& judgement, bool is_copy);
/// One line a metric: how noisy two copies of the same arm were, all cells together.
std::string noise_text(const MetricNoise& noise);
/// "2 better, 7 inconclusive of tps", and the rule that they were held to; empty without any.
std::string verdicts_text(const Comparison& comparison);

}  // namespace numabench
