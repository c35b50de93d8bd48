// What measuring costs: numabench's clients under all that watches them, against pgbench by hand on
// the same server.
//
//   build/dev/tests/paired_pgbench_benchmark [TURNS [SECONDS]]
//
// One `numabench run` starts Debian's server and measures. In turns of SECONDS (2) it goes on, and
// is stopped (SIGSTOP, with its pgbench) while a pgbench with the same arguments, but those that
// make it tell more than its report, runs beside it. Each of the TURNS (100) of numabench is
// compared with the mean of the two by hand around it, so that a machine whose speed drifts says
// the same as a quiet one, later. On a machine where nothing else runs; its numbers decide no test.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <thread>

#include "hosts/process_stats.h"
#include "reports/statistics/bootstrap.h"
#include "reports/trend.h"
#include "tests/e2e/driver.h"

namespace numabench {
namespace {

using Seconds = std::chrono::duration<double>;
using WallClock = std::chrono::system_clock;  // that of pgbench's log

constexpr std::chrono::seconds kSettled{2};  // in the window, before the first turn

struct Turn {
  WallClock::time_point begin;
  WallClock::time_point end;
  std::uint64_t logged = 0;
};

/// The arguments of a running pgbench. It cuts those of -D in two when it reads them.
std::vector<std::string> arguments_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) {
    if (arguments.size() >= 2 && arguments[arguments.size() - 2] == "-D" &&
        arguments.back().find('=') == std::string::npos) {
      arguments.back() += "=" + argument;
    } else {
      arguments.push_back(argument);
    }
  }
  return arguments;
}

std::string value_behind(const std::string& beginning, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with(beginning)) return argument.substr(beginning.size());
  }
  return "";
}

/// numabench in the window of its only run.
class Measuring {
 public:
  explicit Measuring(const std::string& directory)
      : numabench_(
            start_numabench({"run", "it.yaml", "--db", "it.db", "--no-figures"}, directory)) {
    while (!find_clients()) {
      if (numabench_.poll()) throw std::runtime_error(read_file(directory + "/background.log"));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::this_thread::sleep_for(kSettled);
  }

  Measuring(const Measuring&) = delete;
  Measuring& operator=(const Measuring&) = delete;
  /// Its server is gone, and has let go of the directory, when numabench is.
  ~Measuring() {
    go_on();
    ::kill(numabench_.pid(), SIGINT);
    numabench_.wait(std::chrono::minutes(1));
  }

  const std::vector<std::string>& arguments() const { return arguments_; }
  User user() const {
    struct stat owner {};
    ::stat(fmt::format("/proc/{}", clients_).c_str(), &owner);
    return {"pgbench", owner.st_uid, owner.st_gid};
  }

  void stop() { signal(SIGSTOP); }
  void go_on() { signal(SIGCONT); }

  /// Adds the logged transactions to the turns in which they ended.
  void count(std::vector<Turn>& turns) const {
    const std::filesystem::path prefix = value_behind("--log-prefix=", arguments_);
    for (const auto& entry : std::filesystem::directory_iterator(prefix.parent_path())) {
      if (entry.path().filename().string().starts_with(prefix.filename().string() + ".")) {
        count_file(entry.path(), turns);
      }
    }
  }

  double logged_share() const {
    const std::string share = value_behind("--sampling-rate=", arguments_);
    return share.empty() ? 1 : std::stod(share);
  }

 private:
  /// The warm-up's pgbench has no log.
  bool find_clients() {
    for (const pid_t child : children_of(numabench_.pid())) {
      arguments_ = arguments_of(child);
      clients_ = child;
      if (!value_behind("--log-prefix=", arguments_).empty()) return true;
    }
    return false;
  }

  void signal(int number) const {
    ::kill(numabench_.pid(), number);
    ::kill(clients_, number);
  }

  static void count_file(const std::filesystem::path& path, std::vector<Turn>& turns) {
    std::ifstream file(path);
    std::string line;
    auto turn = turns.begin();
    std::int64_t client, number, latency, script, seconds, microseconds;
    while (file >> client >> number >> latency >> script >> seconds >> microseconds &&
           std::getline(file, line)) {
      const WallClock::time_point end{std::chrono::seconds(seconds) +
                                      std::chrono::microseconds(microseconds)};
      while (turn != turns.end() && turn->end < end) ++turn;
      if (turn == turns.end()) return;
      if (end >= turn->begin) ++turn->logged;
    }
  }

  Worker numabench_;
  pid_t clients_ = 0;
  std::vector<std::string> arguments_;
};

/// What a person would type: without the log, for the length of a turn.
std::vector<std::string> by_hand(const std::vector<std::string>& arguments, int seconds) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-T") {
      plain.insert(plain.end(), {"-T", std::to_string(seconds)});
      ++i;
    } else if (argument != "-l" && !argument.starts_with("--log-prefix=") &&
               !argument.starts_with("--sampling-rate=")) {
      plain.push_back(argument);
    }
  }
  return plain;
}

double tps_of(const std::vector<std::string>& arguments, const User& user) {
  CommandOptions options;
  options.user = user;
  const CommandResult result = run_command(arguments, options);
  std::smatch line;
  if (!result.ok() || !std::regex_search(result.out, line, std::regex("\ntps = ([0-9.]+)"))) {
    throw std::runtime_error(result.err);
  }
  return std::stod(line[1]);
}

void write_experiment(const std::string& directory, int window_seconds) {
  ::chmod(directory.c_str(), 0755);  // the server's user comes through
  write_file(directory + "/it.yaml",
             fmt::format("name: paired\nengine: postgres\n"
                         "arms: [{{name: installed, source: {{bindir: "
                         "/usr/lib/postgresql/15/bin}}}}]\n"
                         "workloads: [{{name: zipfian, fill: index_then_heap}}]\n"
                         "pools: 64MiB\nratios: 0.5\nregimes: resident\nclients: cpus\n"
                         "huge_pages: off\nruns: 1\nwarmup: 2s\nduration: {}s\n"
                         "drift_control: false\ndata_directory: {}/data\n",
                         window_seconds, directory));
}

void print_ratios(const std::vector<double>& numabench, const std::vector<double>& hand) {
  std::vector<double> ratios;
  std::vector<double> logarithms;
  for (std::size_t i = 1; i + 1 < numabench.size(); ++i) {
    ratios.push_back(numabench[i] / ((hand[i - 1] + hand[i]) / 2));
    logarithms.push_back(std::log(ratios.back()));
  }
  const auto interval = mean_interval(logarithms);
  if (!interval) return;
  fmt::print("{} pairs: median ratio {:.4f}; geometric mean, 95 %: {:.4f}-{:.4f}\n", ratios.size(),
             median_of(ratios), std::exp(interval->low), std::exp(interval->high));
}

void compare(int turns, int seconds) {
  const TemporaryDirectory directory;
  write_experiment(directory.path(), (2 * turns + 10) * (seconds + 1));
  Measuring measuring(directory.path());
  const std::vector<std::string> command = by_hand(measuring.arguments(), seconds);
  std::vector<Turn> log;
  std::vector<double> hand;
  for (int i = 0; i < turns; ++i) {
    Turn turn;
    turn.begin = WallClock::now();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    turn.end = WallClock::now();
    measuring.stop();
    log.push_back(turn);
    hand.push_back(tps_of(command, measuring.user()));
    measuring.go_on();
  }
  std::this_thread::sleep_for(kSettled);  // until the log of the last turn is in the file
  measuring.count(log);
  std::vector<double> numabench;
  for (const Turn& turn : log) {
    numabench.push_back(static_cast<double>(turn.logged) / measuring.logged_share() /
                        Seconds(turn.end - turn.begin).count());
  }
  print_ratios(numabench, hand);
}

}  // namespace
}  // namespace numabench

int main(int argc, char** argv) {
  try {
    numabench::compare(argc > 1 ? std::atoi(argv[1]) : 100, argc > 2 ? std::atoi(argv[2]) : 2);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
