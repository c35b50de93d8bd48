// A set of CPU or node ids in the kernel's list notation ("0-3,8,10-11").
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace numabench {

using IdSet = std::set<int>;

/// "0-3,8" -> {0,1,2,3,8}; the empty text is the empty set. nullopt if it is not a list of
/// non-negative ids with ascending ranges.
std::optional<IdSet> parse_id_list(std::string_view text);

/// {0,1,2,3,8} -> "0-3,8"; the empty set -> "".
std::string format_id_list(const IdSet& ids);

/// numactl's notation for a choice among the ids that a process may use: "0-3,8"; "all"; "+0-1",
/// the first and the second of them; "!2" and "!+0", all but these.
struct IdExpression {
  bool all = false;
  bool inverted = false;
  bool relative = false;  ///< `ids` count the allowed ids, from 0
  IdSet ids;              ///< as written; empty with `all`
};

/// nullopt if it is not in this notation or names no id.
std::optional<IdExpression> parse_id_expression(std::string_view text);

}  // namespace numabench
