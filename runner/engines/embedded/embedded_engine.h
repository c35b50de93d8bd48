// The embedded engine: the buffer pool in shared memory, its clients as forked processes.
#pragma once

#include <memory>

#include "runner/engines/engine.h"

namespace numabench {

std::unique_ptr<Engine> make_embedded_engine();

}  // namespace numabench
