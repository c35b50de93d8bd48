// Report formats: each is one function from the comparison model to text, and one line in
// registry.cc.
#pragma once

#include <string>
#include <vector>

#include "reports/comparison.h"

namespace numabench {

struct FormatOptions {
  bool color = false;  ///< terminal only
  int width =
      0;  ///< columns of the terminal, which wider tables are folded to; 0: unknown, kPageWidth
};

/// What a mail, a wiki and most terminals bear.
inline constexpr int kPageWidth = 140;

struct ReportFormat {
  std::string name;  ///< "terminal", "markdown", "csv", "json"
  std::string description;
  std::string (*render)(const Comparison& comparison, const FormatOptions& options);
};

const std::vector<ReportFormat>& report_formats();
/// Throws Error(kUsage) naming the known formats.
const ReportFormat& find_report_format(const std::string& name);

}  // namespace numabench
