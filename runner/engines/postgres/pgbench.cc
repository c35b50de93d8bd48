#include "runner/engines/postgres/pgbench.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "hosts/error.h"
#include "hosts/process.h"
#include "hosts/system_error.h"
#include "hosts/units.h"
#include "reports/digest.h"
#include "runner/measure/broken_rule.h"

namespace numabench {
namespace {

constexpr std::chrono::seconds kEndTimeout{30};
constexpr double kLinesPerThread = 1250;
constexpr double kLinesOfAll = 20'000;
constexpr double kShareOfUnknown = 1.0 / 16;  // logged of clients whose speed is not known
constexpr int kOldestVersion = 13;
constexpr int kFirstWithPermute = 14;
constexpr std::string_view kVersionPrefix = "pgbench (PostgreSQL) ";

std::string output_path(const std::string& directory) { return directory + "/pgbench.out"; }
std::string error_path(const std::string& directory) { return directory + "/pgbench.err"; }
std::string log_prefix(const std::string& directory) { return directory + "/transactions"; }

std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return (std::ostringstream() << file.rdbuf()).str();
}

/// Readable for the user whom pgbench runs as, whatever our umask.
void write_script(const std::string& path, const std::string& text) {
  std::ofstream(path) << text << std::flush;
  if (::chmod(path.c_str(), 0644) != 0) throw_errno("writing " + path);
}

std::string_view protocol_name(PgbenchOptions::Protocol protocol) {
  switch (protocol) {
    case PgbenchOptions::Protocol::kSimple:
      return "simple";
    case PgbenchOptions::Protocol::kExtended:
      return "extended";
    case PgbenchOptions::Protocol::kPrepared:
      break;
  }
  return "prepared";
}

int cpus_of(const Placement& placement) {
  if (!placement.cpus.empty()) return static_cast<int>(placement.cpus.size());
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

int threads_for(const PgbenchOptions& options, int clients, const Placement& placement) {
  return std::min(options.jobs > 0 ? options.jobs : cpus_of(placement), clients);
}

/// The server splits the options of a connection at blanks, and a backslash keeps the next
/// character as it is.
std::string session_options(const std::map<std::string, std::string>& settings) {
  std::string options;
  for (const auto& [name, value] : settings) {
    if (!options.empty()) options += ' ';
    options += "-c ";
    for (const char c : name + "=" + value) {
      if (c == ' ' || c == '\\') options += '\\';
      options += c;
    }
  }
  return options;
}

double rate_of(const PgbenchOptions& options, const SqlRole& role) {
  return role.rate == 0 && role.kind == Role::Kind::kPoint ? options.rate : role.rate;
}

class Arguments {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (list_.push_back(fmt::to_string(values)), ...);
  }

  void add_target(const PgbenchTarget& target) {
    add("-h", target.socket_directory, "-p", target.port, "-U", "postgres");
  }

  void add_log(double share, const std::string& directory) {
    if (share <= 0) return;
    add("-l", "--log-prefix=" + log_prefix(directory));
    if (share < 1) add("--sampling-rate=" + format_exact(share));
  }

  void add_scripts(const SqlRole& role, const std::string& directory) {
    for (std::size_t i = 0; i < role.scripts.size(); i++) {
      const SqlScript& script = role.scripts[i];
      const std::string path = fmt::format("{}/{}-{}", directory, i + 1, script.name);
      write_script(path, script.text);
      add("-f", fmt::format("{}@{}", path, script.weight));
    }
    for (const auto& [name, value] : role.variables) add("-D", name + "=" + value);
  }

  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

std::vector<std::string> pgbench_arguments(const PgbenchTarget& target,
                                           const PgbenchOptions& options, const SqlRole& role,
                                           int threads, bool progress, double log_share,
                                           double seconds, std::uint64_t seed,
                                           const std::string& directory) {
  Arguments arguments;
  arguments.add_target(target);
  if (progress) arguments.add("-P", 1);
  arguments.add("-n", "-M", protocol_name(options.protocol), "-c", role.clients, "-j", threads,
                "--random-seed", seed);
  if (role.transactions > 0) {
    arguments.add("-t", role.transactions);
  } else {
    arguments.add("-T", std::max(1, static_cast<int>(std::ceil(seconds))));
  }
  if (const double rate = rate_of(options, role); rate > 0) {
    arguments.add("-R", format_exact(rate));
  }
  arguments.add_log(log_share, directory);
  arguments.add_scripts(role, directory);
  arguments.add(target.database);
  return arguments.take();
}

std::map<std::string, std::string> library_environment(const std::string& library_directory) {
  if (library_directory.empty()) return {};
  return {{"LD_LIBRARY_PATH", library_directory}};
}

BackgroundProcess start_pgbench(const PgbenchTarget& target,
                                const std::vector<std::string>& arguments, const SqlRole& role,
                                const Placement& placement, const std::optional<User>& user,
                                const std::string& directory) {
  BackgroundProcess::Options options;
  options.command.placement = placement;
  options.command.user = user;
  options.command.working_directory = directory;
  options.command.environment = library_environment(target.library_directory);
  options.command.environment["PGOPTIONS"] = session_options(role.settings);
  options.output_path = output_path(directory);
  options.error_path = error_path(directory);
  std::vector<std::string> command = {target.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return BackgroundProcess::start(command, options);
}

std::string version_line(const std::string& program, const std::string& library_directory) {
  CommandOptions options;
  options.environment = library_environment(library_directory);
  const CommandResult result = run_command({program, "--version"}, options);
  if (!result.ok() || !result.out.starts_with(kVersionPrefix)) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("'{} --version' does not say which pgbench it is: {}", program,
                            result.err.substr(0, result.err.find('\n'))),
                "name a pgbench that runs on this host with 'pgbench.program'");
  }
  return result.out.substr(0, result.out.find('\n'));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double logged_share(const PgbenchOptions& options, const SqlRole& role, int threads,
                    std::optional<double> expected_tps) {
  if (role.kind != Role::Kind::kPoint || role.transactions > 0) return 1;
  if (options.log_sampling) return *options.log_sampling;
  if (!expected_tps) return kShareOfUnknown;
  const double lines = std::min(threads * kLinesPerThread, kLinesOfAll);
  if (*expected_tps <= lines) return 1;
  return std::exp2(std::floor(std::log2(lines / *expected_tps)));
}

PgbenchRun::PgbenchRun(const PgbenchTarget& target, const PgbenchOptions& options, SqlRole role,
                       const PgbenchTelling& telling, const Placement& placement,
                       const std::optional<User>& user, double seconds, std::uint64_t seed,
                       const std::string& directory)
    : role_(std::move(role)),
      directory_(directory),
      threads_(threads_for(options, role_.clients, placement)),
      tells_progress_(telling.progress),
      logged_share_(telling.log ? logged_share(options, role_, threads_, telling.expected_tps) : 0),
      arguments_(pgbench_arguments(target, options, role_, threads_, telling.progress,
                                   logged_share_, seconds, seed, directory)),
      errors_(error_path(directory)),
      process_(start_pgbench(target, arguments_, role_, placement, user, directory)) {}

std::optional<std::uint64_t> PgbenchRun::transactions() const {
  if (!tells_progress_) return std::nullopt;
  errors_.read_more();
  return static_cast<std::uint64_t>(std::llround(errors_.transactions()));
}

std::optional<double> PgbenchRun::newest_tps() const {
  errors_.read_more();
  if (errors_.progress().empty()) return std::nullopt;
  return errors_.progress().back().tps;
}

bool PgbenchRun::has_finished() {
  if (!exit_) exit_ = process_.poll();
  return role_.transactions > 0 && exit_ && exit_->ok();
}

void PgbenchRun::check_alive() {
  if (!exit_) exit_ = process_.poll();
  check_messages();
  if (!exit_ || has_finished()) return;
  check_exit();
  if (!asked_to_end_) fail("it ended before it was told to");
}

void PgbenchRun::request_end() {
  if (asked_to_end_ || has_finished()) return;
  asked_to_end_ = true;
  end_ = end_at_this_moment();
  // Without -T it has no handler: the signal would end it without a report.
  process_.signal(role_.transactions > 0 ? SIGTERM : SIGALRM);
}

PgbenchRun::End PgbenchRun::end_at_this_moment() const {
  const std::chrono::duration<double> at_work = std::chrono::steady_clock::now() - started_;
  return {std::chrono::system_clock::now(), at_work.count()};
}

TransactionLog PgbenchRun::log() const {
  const End end = end_.value_or(end_at_this_moment());
  return read_transaction_logs(log_prefix(directory_), logged_share_, end.at, end.seconds);
}

void PgbenchRun::end() {
  request_end();
  if (!end_) end_ = end_at_this_moment();
  if (!exit_) exit_ = process_.wait(kEndTimeout);
  if (!exit_) exit_ = process_.kill();
}

PgbenchRun::Result PgbenchRun::result() {
  check_messages();
  check_exit();
  Result result;
  result.report = read_whole_file(output_path(directory_));
  result.error_output = errors_.messages();
  result.summary = parse_pgbench_summary(result.report);
  result.log = log();
  result.cpu_seconds = seconds_of(exit_->usage.ru_utime) + seconds_of(exit_->usage.ru_stime);
  result.voluntary_switches = static_cast<std::uint64_t>(exit_->usage.ru_nvcsw);
  result.involuntary_switches = static_cast<std::uint64_t>(exit_->usage.ru_nivcsw);
  return result;
}

std::string PgbenchRun::output() const {
  errors_.read_more();
  return read_whole_file(output_path(directory_)) + errors_.messages();
}

void PgbenchRun::check_messages() const {
  errors_.read_more();
  const std::string failure = pgbench_failure(errors_.messages());
  if (is_aborted_client(failure)) {
    throw BrokenRule(
        {"aborted_clients", fmt::format("pgbench of the {}: {}", role_.name, failure)});
  }
  if (!failure.empty()) fail(failure);
}

void PgbenchRun::check_exit() const {
  if (!exit_) throw Error(ErrorKind::kInternal, "pgbench's result was asked for before its end");
  if (exit_->ok()) return;
  if (exit_->signal == 0) fail(fmt::format("exit code {}", exit_->exit_code));
  if (!asked_to_end_) fail(fmt::format("killed by signal {}", exit_->signal));
  fail(role_.transactions > 0 ? "its clients had not done all their transactions in time"
                              : "it did not end when its time was over");
}

void PgbenchRun::fail(const std::string& problem) const {
  throw Error(ErrorKind::kRun, fmt::format("pgbench of the {}: {}", role_.name, problem),
              "look into the server's log for what became of their connections");
}

std::string pgbench_identity(const std::string& program, const std::string& library_directory) {
  return fmt::format("{}, SHA-256 {}", version_line(program, library_directory),
                     sha256_hex(read_whole_file(program)));
}

int pgbench_major_version(const std::string& program, const std::string& library_directory) {
  const std::string line = version_line(program, library_directory);
  int major = 0;
  std::from_chars(line.data() + kVersionPrefix.size(), line.data() + line.size(), major);
  return major;
}

std::string pgbench_refuses(int major_version, const SqlWorkload& workload) {
  if (major_version < kOldestVersion) {
    return fmt::format("pgbench {} is too old: its output is read from {} on", major_version,
                       kOldestVersion);
  }
  if (major_version >= kFirstWithPermute) return "";
  for (const SqlRole& role : workload.roles) {
    for (const SqlScript& script : role.scripts) {
      if (script.text.find("permute(") == std::string::npos) continue;
      return fmt::format("pgbench {} has no permute(), which {} uses: take {} or later",
                         major_version, script.name, kFirstWithPermute);
    }
  }
  return "";
}

}  // namespace numabench
