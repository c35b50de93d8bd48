// Lines of CSV as RFC 4180 wants them.
#pragma once

#include <string>
#include <vector>

namespace numabench {

/// The fields joined by commas, ended by "\n"; fields with a comma, a quote or a line break in
/// quotes.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace numabench
