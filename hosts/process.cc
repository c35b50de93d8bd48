#include "hosts/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "hosts/child.h"
#include "hosts/file_descriptor.h"
#include "hosts/launch.h"
#include "hosts/pipe.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

// A process group led by our child, which nothing it has started in the group outlives.
class ProcessGroup {
 public:
  explicit ProcessGroup(pid_t leader) : leader_(leader) {}
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() {
    if (leader_ > 0) end();
  }

  void signal(int number) const { ::kill(-leader_, number); }

  // Kills what is left of the group and reaps the leader; in this order, since the leader's pid
  // cannot name another group before it is reaped.
  ChildExit end() {
    signal(SIGKILL);
    return *reap(std::exchange(leader_, -1), true);
  }

 private:
  pid_t leader_;
};

// One output stream of the child, kept up to a limit.
class OutputStream {
 public:
  OutputStream(FileDescriptor source, std::size_t limit)
      : source_(std::move(source)), limit_(limit) {
    ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
  }

  int descriptor() const { return source_.get(); }
  bool is_truncated() const { return is_truncated_; }
  std::string take_text() { return std::move(text_); }

  // Reads once; what exceeds the limit is dropped, so that the writer never blocks. False at the
  // end of the stream or when there is nothing to read now.
  bool read_some() {
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(source_.get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (count <= 0) {
      source_.reset();
      return false;
    }
    const std::size_t kept = std::min(static_cast<std::size_t>(count), limit_ - text_.size());
    text_.append(buffer.data(), kept);
    is_truncated_ |= kept < static_cast<std::size_t>(count);
    return true;
  }

  // What a full pipe holds at most: a daemon that goes on writing cannot keep us here.
  void read_rest() {
    constexpr int kMostReads = 16;
    for (int reads = 0; reads < kMostReads && source_.is_open() && read_some(); ++reads) {
    }
  }

 private:
  FileDescriptor source_;
  std::size_t limit_;
  std::string text_;
  bool is_truncated_ = false;
};

// A started program, from exec to its end.
class RunningCommand {
 public:
  RunningCommand(pid_t pid, FileDescriptor out, FileDescriptor err, std::size_t output_limit)
      : group_(pid),
        pidfd_(open_pidfd(pid)),
        out_(std::move(out), output_limit),
        err_(std::move(err), output_limit) {}

  // Reads both streams until the program has ended; false if the deadline comes first. Its end and
  // not the streams' decides: a daemon that it has started may hold them open for ever.
  bool run_until(const Deadline& deadline) {
    while (!deadline.has_passed()) {
      std::array<pollfd, 3> events{{{pidfd_.get(), POLLIN, 0},
                                    {out_.descriptor(), POLLIN, 0},
                                    {err_.descriptor(), POLLIN, 0}}};
      if (::poll(events.data(), events.size(), deadline.poll_timeout_ms()) < 0) {
        if (errno == EINTR) continue;
        throw_errno("poll of a command");
      }
      if (events[0].revents != 0) return true;
      if (events[1].revents != 0) out_.read_some();
      if (events[2].revents != 0) err_.read_some();
    }
    return false;
  }

  void ask_to_end() { group_.signal(SIGTERM); }

  CommandResult end() {
    const ChildExit child = group_.end();
    out_.read_rest();
    err_.read_rest();
    CommandResult result;
    result.exit_code = child.exit_code;
    result.signal = child.signal;
    result.usage = child.usage;
    result.output_truncated = out_.is_truncated() || err_.is_truncated();
    result.out = out_.take_text();
    result.err = err_.take_text();
    return result;
  }

 private:
  ProcessGroup group_;
  FileDescriptor pidfd_;
  OutputStream out_;
  OutputStream err_;
};

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments,
                          const CommandOptions& options) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const pid_t pid = launch(arguments, options, {out.write_end.get(), err.write_end.get()}, SIGKILL);
  out.write_end.reset();
  err.write_end.reset();

  RunningCommand command(pid, std::move(out.read_end), std::move(err.read_end),
                         options.output_limit_bytes);
  const bool timed_out = !command.run_until(Deadline(options.timeout));
  if (timed_out) {
    command.ask_to_end();
    command.run_until(Deadline(kGracePeriod));
  }
  CommandResult result = command.end();
  result.timed_out = timed_out;
  return result;
}

}  // namespace numabench
