// "Did you mean …?" for everything a user can misspell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numabench {

/// The candidate nearest to `word` by edit distance (with transpositions), or "" when none is near
/// enough to be a misspelling of it.
std::string closest_match(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'clients'?" or, when nothing is near, "known: a, b, c". For the remedy of an
/// Error.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace numabench
