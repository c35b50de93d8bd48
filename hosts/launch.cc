#include "hosts/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "hosts/child.h"
#include "hosts/error.h"
#include "hosts/file_descriptor.h"
#include "hosts/pipe.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

// The strings of an argv or envp and the null-terminated array of pointers to them.
class StringVector {
 public:
  explicit StringVector(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (std::string& text : strings_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() { return pointers_.data(); }

 private:
  std::vector<std::string> strings_;
  std::vector<char*> pointers_;
};

// Our environment with `added` and, so that numbers and messages read the same everywhere,
// LC_ALL=C.
std::vector<std::string> child_environment(std::map<std::string, std::string> added) {
  added["LC_ALL"] = "C";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      added.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::vector<std::string> environment;
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  return environment;
}

// What the child writes to the status pipe when it cannot become the program; exec closes the pipe
// without a word.
constexpr char kNoSuchProgram = 'p';
constexpr char kCannotStart = 'r';

[[noreturn]] void report_failure(const Pipe& status, char kind, const std::string& text) {
  const std::string message = kind + text;
  // Less than PIPE_BUF into an empty pipe: written whole or, with the parent gone, for nobody.
  [[maybe_unused]] const ssize_t written =
      ::write(status.write_end.get(), message.data(), message.size());
  ::_exit(127);
}

// Everything the child needs, allocated before the fork.
struct Launch {
  const CommandOptions& options;
  const std::string& program;
  StringVector arguments;
  StringVector environment;
  ChildStreams streams;
  int death_signal;
  pid_t parent = ::getpid();
  Pipe status = make_pipe();
};

void redirect_streams(const ChildStreams& streams) {
  // A background process group that read the terminal would be stopped.
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) throw_errno("open of /dev/null");
  ::dup2(null, STDIN_FILENO);
  ::dup2(streams.out, STDOUT_FILENO);
  ::dup2(streams.err, STDERR_FILENO);
}

// In this order: without the uid of root the groups cannot be changed any more.
void become_user(const User& user) {
  const std::string to = fmt::format("becoming the user '{}': ", user.name);
  if (::setgroups(1, &user.gid) != 0) throw_errno(to + "setgroups");
  if (::setgid(user.gid) != 0) throw_errno(to + "setgid");
  if (::setuid(user.uid) != 0) throw_errno(to + "setuid");
}

// True if some directory on PATH has a file of that name, runnable or not. exec blames permissions
// for a program that no directory has when one of them cannot be searched.
bool is_on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return ::access(program.c_str(), F_OK) == 0 || errno == EACCES;
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((directory + "/" + program).c_str(), F_OK) == 0) return true;
  }
  return false;
}

[[noreturn]] void become_program(Launch& launch) {
  try {
    ::setpgid(0, 0);
    reset_child(launch.parent, launch.death_signal);
    redirect_streams(launch.streams);
    apply(launch.options.placement);
    if (launch.options.user && launch.options.user->uid != ::geteuid()) {
      become_user(*launch.options.user);
      die_with(launch.parent, launch.death_signal);  // a change of the uid clears it
    }
    const std::string& directory = launch.options.working_directory;
    if (!directory.empty() && ::chdir(directory.c_str()) != 0) {
      throw_errno(fmt::format("entering the directory '{}'", directory));
    }
  } catch (const std::exception& error) {
    report_failure(launch.status, kCannotStart, error.what());
  }
  ::execvpe(launch.program.c_str(), launch.arguments.get(), launch.environment.get());
  const std::string reason = std::strerror(errno);
  report_failure(launch.status, is_on_path(launch.program) ? kCannotStart : kNoSuchProgram, reason);
}

// The reason why the child could not become the program; empty once it has.
std::string read_status(Launch& launch) {
  launch.status.write_end.reset();
  std::string message;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(launch.status.read_end.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return message;
    message.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void throw_not_started(const std::string& program, const std::string& message) {
  if (message.front() == kNoSuchProgram) {
    throw Error(ErrorKind::kPreflight, fmt::format("the program '{}' does not exist", program),
                "install it or put its directory on PATH");
  }
  throw Error(ErrorKind::kRun, fmt::format("cannot start '{}': {}", program, message.substr(1)));
}

}  // namespace

pid_t launch(const std::vector<std::string>& arguments, const CommandOptions& options,
             const ChildStreams& streams, int death_signal) {
  if (arguments.empty()) throw Error(ErrorKind::kInternal, "a command without a program");
  Launch launch{options,
                arguments.front(),
                StringVector(arguments),
                StringVector(child_environment(options.environment)),
                streams,
                death_signal};
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("fork of '" + launch.program + "'");
  if (pid == 0) become_program(launch);
  const std::string failure = read_status(launch);
  if (!failure.empty()) {
    reap(pid, true);
    throw_not_started(launch.program, failure);
  }
  return pid;
}

}  // namespace numabench
