// The journal of hosts/tuning.h as text, and what its values mean.
#pragma once

#include <string>

#include "hosts/tuning.h"

namespace numabench {

std::string to_json(const TuningJournal& journal);
/// Throws Error(kPreflight) naming `path` when the text is no journal.
TuningJournal parse_journal(const std::string& text, const std::string& path);

/// True when `current` is what apply() made of the file, as far as one can know: the value asked
/// for, the one read back, or, of a number of huge pages, which the kernel makes one by one, any on
/// the way.
bool is_ours(const JournalEntry& entry, const std::string& current);

}  // namespace numabench
