// A pipe by which a test and its worker tell each other how far they are.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace numabench {

/// Inherited by the worker that is forked after it.
class Channel {
 public:
  Channel() {
    if (::pipe(ends_.data()) != 0) std::abort();
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  template <typename T>
  void send(const T& value) {
    if (::write(ends_[1], &value, sizeof value) != sizeof value) std::abort();
  }
  template <typename T>
  T receive() {
    T value{};
    if (::read(ends_[0], &value, sizeof value) != sizeof value) std::abort();
    return value;
  }
  bool is_empty() {
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    char byte = 0;
    return ::read(ends_[0], &byte, 1) < 0;
  }

 private:
  std::array<int, 2> ends_{};
};

/// The body of a worker that waits to be killed.
[[noreturn]] inline void sleep_for_ever() {
  for (;;) ::pause();
}

}  // namespace numabench
