// A lock between processes: a file that one of them holds.
#pragma once

#include <functional>
#include <string>

#include "hosts/file_descriptor.h"

namespace numabench {

class FileLock {
 public:
  /// Makes the file at `path` and waits until it is ours, calling `waiting` several times a second
  /// meanwhile; what that throws ends the waiting. The kernel lets go of it when we die.
  FileLock(const std::string& path, const std::function<void()>& waiting);

 private:
  FileDescriptor file_;
};

}  // namespace numabench
