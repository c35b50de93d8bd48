#include "runner/engines/postgres/stale_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "hosts/child.h"
#include "hosts/error.h"
#include "hosts/files.h"
#include "hosts/process_stats.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

bool is_postgres(pid_t pid) {
  return fs::path(program_of(pid)).filename().string().find("postgres") != std::string::npos;
}

// A postgres of the directory's owner with it as its working directory; zombies have none.
bool works_in(pid_t pid, const struct stat& directory) {
  const std::string proc = fmt::format("/proc/{}", pid);
  struct stat process {};
  struct stat cwd {};
  return ::stat(proc.c_str(), &process) == 0 && process.st_uid == directory.st_uid &&
         ::stat((proc + "/cwd").c_str(), &cwd) == 0 && cwd.st_dev == directory.st_dev &&
         cwd.st_ino == directory.st_ino && is_postgres(pid);
}

std::vector<pid_t> processes_in(const std::string& data_directory) {
  std::vector<pid_t> found;
  struct stat directory {};
  if (::stat(data_directory.c_str(), &directory) != 0) return found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const pid_t pid = static_cast<pid_t>(std::atol(entry.path().filename().c_str()));
    if (pid > 0 && works_in(pid, directory)) found.push_back(pid);
  }
  return found;
}

struct Step {
  int signal;
  seconds patience;
};

// Another's child can be waited for as well: by its pidfd.
bool end_process(pid_t pid, const std::vector<Step>& steps) {
  FileDescriptor process;
  try {
    process = open_pidfd(pid);
  } catch (const Error&) {
    return ::kill(pid, 0) != 0 && errno == ESRCH;
  }
  for (const Step& step : steps) {
    ::kill(pid, step.signal);
    if (has_ended_by(process, Deadline(step.patience))) return true;
  }
  return false;
}

void end_or_throw(pid_t pid, const std::vector<Step>& steps, const std::string& data_directory) {
  if (end_process(pid, steps)) return;
  throw Error(ErrorKind::kRun,
              fmt::format("process {} of an earlier run in {} does not end", pid, data_directory),
              "look at it with ps; it may be stuck in the kernel");
}

}  // namespace

pid_t recorded_postmaster(const std::string& data_directory) {
  const std::string text = read_text_file(data_directory + "/postmaster.pid").value_or("");
  pid_t pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  return pid;
}

std::vector<std::string> clean_stale_server(const std::string& data_directory) {
  std::vector<std::string> notes;
  const pid_t postmaster = recorded_postmaster(data_directory);
  for (const pid_t pid : processes_in(data_directory)) {
    if (pid != postmaster) continue;
    end_or_throw(pid, {{SIGINT, seconds(15)}, {SIGQUIT, seconds(5)}, {SIGKILL, seconds(10)}},
                 data_directory);
    notes.push_back(
        fmt::format("a server of an earlier run (PID {}) was still running: ended", pid));
  }
  // Backends notice that their postmaster is gone, but not while they are stopped or busy.
  std::string orphans;
  for (const pid_t pid : processes_in(data_directory)) {
    end_or_throw(pid, {{SIGQUIT, seconds(2)}, {SIGKILL, seconds(10)}}, data_directory);
    orphans += fmt::format("{}{}", orphans.empty() ? "" : ", ", pid);
  }
  if (!orphans.empty()) {
    notes.push_back(
        fmt::format("processes of an earlier run had outlived their server and held its shared "
                    "memory (PID {}): "
                    "ended",
                    orphans));
  }
  std::error_code ignored;
  if (fs::remove(data_directory + "/postmaster.pid", ignored)) {
    notes.push_back(
        fmt::format("a stale postmaster.pid (PID {}) of an earlier run was removed", postmaster));
  }
  return notes;
}

}  // namespace numabench
