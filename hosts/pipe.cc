#include "hosts/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "hosts/system_error.h"

namespace numabench {

Pipe make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace numabench
