// The patches of one mail message.
#pragma once

#include <string>
#include <vector>

#include "runner/patches/mbox.h"
#include "runner/patches/patch.h"

namespace numabench {

/// Those attached or, when none is, the one in its text; empty when it has none. `origin` stands
/// for the message in errors. `name` and `sha256` of each are set, `number` where it has one.
std::vector<Patch> patches_of_message(const MboxMessage& message, const std::string& origin);

/// A bare diff.
Patch patch_of_diff(const std::string& text, const std::string& name, const std::string& origin);

/// By number, when all have one and no two the same; else as they are.
void sort_by_number(std::vector<Patch>& patches);

}  // namespace numabench
