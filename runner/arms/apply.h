// Patches onto a tree, in order.
#pragma once

#include <string>
#include <vector>

#include "runner/arms/build_step.h"
#include "runner/patches/patch.h"

namespace numabench {

/// Commits each patch to the repository at `tree` by `git am --3way`, or `git apply --3way` for a
/// bare diff and for a mail that git am cannot read. Throws Error(kRun) for the first that does not
/// apply: "patch 0003-x.patch does not apply to src/…/freelist.c, hunk 2 (line 131)". The tree is
/// then as the patch before left it. Files of its own are written to `directory`.
void apply_patches(const std::string& tree, const std::string& directory,
                   const std::vector<Patch>& patches, const BuildSteps& steps);

/// Which hunk of `file` in `diff` begins at `line` of the old file, from 1; 0: none.
int hunk_number(const std::string& diff, const std::string& file, int line);

}  // namespace numabench
