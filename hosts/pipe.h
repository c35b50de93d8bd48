// A pipe between us and a child.
#pragma once

#include "hosts/file_descriptor.h"

namespace numabench {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Closed on exec.
Pipe make_pipe();

}  // namespace numabench
