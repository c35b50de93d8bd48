// What the kernel says of processes: the independent truth of the tests of processes and placement.
#pragma once

#include <dirent.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "hosts/id_set.h"

namespace numabench {

/// The whole of /proc/PID/`file`; empty if there is none.
inline std::string proc_file(pid_t pid, const std::string& file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The value of a line of /proc/PID/status.
inline std::string status_value(pid_t pid, const std::string& label) {
  std::istringstream status(proc_file(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(label + ":\t")) return line.substr(label.size() + 2);
  }
  return "";
}

/// The CPUs that a process may run on. /proc/PID/status lists offline ones, too.
inline IdSet usable_cpus(pid_t pid) {
  std::ifstream file("/sys/devices/system/cpu/online");
  std::string online;
  std::getline(file, online);
  const IdSet listed = parse_id_list(status_value(pid, "Cpus_allowed_list")).value_or(IdSet{});
  IdSet cpus;
  for (const int cpu : parse_id_list(online).value_or(IdSet{})) {
    if (listed.contains(cpu)) cpus.insert(cpu);
  }
  return cpus;
}

/// True while the process exists and is not a zombie.
inline bool is_running(pid_t pid) {
  const std::string state = status_value(pid, "State");
  return !state.empty() && state.front() != 'Z' && state.front() != 'X';
}

/// Death takes its time after a signal; true as soon as `condition` is, false after half a minute.
inline bool becomes_true(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

inline int count_open_files() {
  DIR* directory = ::opendir("/proc/self/fd");
  int count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

/// True if this process has no child, alive or zombie.
inline bool has_no_children() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

}  // namespace numabench
