#include "runner/arms/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "hosts/error.h"

namespace numabench {

FileLock::FileLock(const std::string& path, const std::function<void()>& waiting)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  const auto fail = [&] {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot lock '{}': {}", path, std::strerror(errno)),
                "name a directory that you can write to");
  };
  if (!file_.is_open()) fail();
  while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail();
    waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace numabench
