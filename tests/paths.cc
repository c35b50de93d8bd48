#include "tests/paths.h"

namespace numabench {

// The only file that knows paths of one machine, so that ccache serves the others to every
// worktree.
std::string source_dir() { return NUMABENCH_SOURCE_DIR; }
std::string program_path() { return NUMABENCH_BINARY; }

}  // namespace numabench
