// The parameters of a workload, from the text of a config to checked values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/workload.h"

namespace numabench {

class Parameters {
 public:
  /// Checks `values` against `specs`, and fills in the defaults. Throws Error(kUsage) for a name
  /// that is not among them, with a suggestion, and for a value of the wrong type or out of its
  /// range.
  Parameters(std::string_view workload, const std::vector<ParameterSpec>& specs,
             const ParameterValues& values);

  /// `name` is one of the specs, of the type asked for.
  double number(const std::string& name) const;
  std::uint64_t integer(const std::string& name) const;  ///< fits an int
  bool boolean(const std::string& name) const;
  const std::string& choice(const std::string& name) const;
  const std::string& text(const std::string& name) const;

 private:
  std::map<std::string, std::string> texts_;  ///< checked
};

}  // namespace numabench
