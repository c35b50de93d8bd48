#include "tests/e2e/driver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/paths.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

std::vector<char*> argument_pointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Does not return.
[[noreturn]] void become_numabench(std::vector<std::string> arguments,
                                   const std::string& directory) {
  arguments.insert(arguments.begin(), program_path());
  if (chdir(directory.c_str()) == 0) {
    execv(arguments.front().c_str(), argument_pointers(arguments).data());
  }
  _exit(127);
}

// Until the other side has closed; a terminal's last close reads as EIO.
std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(descriptor, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

CommandResult numabench(const std::vector<std::string>& arguments, const std::string& directory,
                        std::chrono::minutes limit) {
  std::vector<std::string> command = {program_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.working_directory = directory;
  options.timeout = limit;
  return run_command(command, options);
}

CommandResult numabench_on_terminal(const std::vector<std::string>& arguments,
                                    const std::string& directory, const std::string& no_color) {
  winsize size{.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == -1) throw std::runtime_error("no pseudo-terminal to be had: is /dev/pts mounted?");
  if (pid == 0) {
    setenv("NO_COLOR", no_color.c_str(), 1);
    become_numabench(arguments, directory);
  }
  CommandResult result;
  result.out = read_all(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

void write_small_experiment(const std::string& directory) {
  fs::copy(fs::path(source_dir()) / "configs/arms", fs::path(directory) / "arms");
  write_file(fs::path(directory) / "small.yaml", R"(name: small
arms:
  - stock
  - {name: numa-only, extends: numa-only, policy: {partitions: 2}}
  - {name: full-series, extends: full-series, policy: {partitions: 2}}
workloads: [zipfian, hotscan, seqscan]
pools: 8MiB
ratios: [1.15, 2, 4]
clients: 4
warmup: 0.1s
duration: 0.2s
drift_control: false
seed: 7
)");
}

Worker start_numabench(const std::vector<std::string>& arguments, const std::string& directory) {
  return Worker::fork(Placement{}, [&]() -> int {
    // As a shell starts a program: a worker of ours ignores SIGINT, and exec would inherit that.
    std::signal(SIGINT, SIG_DFL);
    const std::string log = directory + "/background.log";
    const int descriptor = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    dup2(descriptor, STDOUT_FILENO);
    dup2(descriptor, STDERR_FILENO);
    become_numabench(arguments, directory);
  });
}

std::vector<std::string> query(const std::string& database, const std::string& sql) {
  const CommandResult result = run_command({"sqlite3", "-readonly", "-batch", database, sql});
  EXPECT_TRUE(result.ok()) << sql << ": " << result.err;
  return lines_of(result.out);
}

}  // namespace numabench
