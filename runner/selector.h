// The selectors of every command: -n REGEX and --where 'arm=numa-only,ratio>=2'.
#pragma once

#include <functional>
#include <string>

#include "reports/store.h"

namespace numabench {

using CellPredicate = std::function<bool(const CellRecord&)>;

/// "arm workload ratio=… pool=… clients=… placement": what -n's regular expression is searched in.
std::string cell_label(const CellRecord& cell);

/// `name_regex` (ECMAScript, searched in cell_label) and `where` (conditions joined by commas:
/// FACTOR OP VALUE with =, !=, <, <=, >, >=; factors arm, workload, placement, regime, pool, ratio,
/// clients, hash) must both hold; empty ones always do. Throws Error(kUsage) for a bad expression,
/// with a suggestion for a misspelled factor.
CellPredicate make_selector(const std::string& name_regex, const std::string& where);

}  // namespace numabench
