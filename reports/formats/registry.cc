#include <fmt/format.h>

#include <algorithm>

#include "hosts/error.h"
#include "hosts/spelling.h"
#include "reports/formats/formats.h"

namespace numabench {

const std::vector<ReportFormat>& report_formats() {
  static const std::vector<ReportFormat> formats = {
      {"terminal", "aligned tables, in colour where the terminal has it", render_terminal},
      {"markdown", "tables for a wiki, an issue or a README", render_markdown},
      {"csv", "one row for each cell and metric, factors in front", render_csv},
      {"json", "the whole comparison for other programs", render_json},
  };
  return formats;
}

const ReportFormat& find_report_format(const std::string& name) {
  const auto& formats = report_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const ReportFormat& format) { return format.name == name; });
  if (found != formats.end()) return *found;
  std::vector<std::string> names;
  for (const ReportFormat& format : formats) names.push_back(format.name);
  throw Error(ErrorKind::kUsage, fmt::format("unknown report format '{}'", name),
              suggest(name, names));
}

}  // namespace numabench
