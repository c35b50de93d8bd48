// pgbench: its command line, its running processes, and everything it prints, by label.
#pragma once

#include <chrono>
#include <cstdint>
#include <ios>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hosts/background_process.h"
#include "runner/config/experiment.h"
#include "workloads/sql_workload.h"

namespace numabench {

/// What pgbench's final report says of the whole run, not of a single script; 13 to 20devel. Absent
/// lines are nullopt.
struct PgbenchSummary {
  std::optional<std::uint64_t> transactions;
  std::optional<double> tps;  ///< without the initial connections
  std::optional<std::uint64_t> failed;
  std::optional<std::uint64_t> retried;
  std::optional<std::uint64_t> skipped;
  std::optional<double> latency_mean_ms;
  std::optional<double> latency_stddev_ms;
  std::optional<double> connection_ms;
  std::optional<int> clients;
  std::optional<int> threads;
};

/// Throws Error(kRun) when there is no tps line, but that of a run without a transaction is 0.
PgbenchSummary parse_pgbench_summary(const std::string& report);

/// One line of --progress.
struct PgbenchProgress {
  double t_seconds = 0;
  double tps = 0;
  std::optional<double> latency_mean_ms;
  std::optional<double> latency_stddev_ms;
  std::uint64_t failed = 0;
};
/// nullopt for a line that is none.
std::optional<PgbenchProgress> parse_pgbench_progress(const std::string& line);

/// The first error that pgbench printed ("client 3 aborted in command 1 …"), and how many more; one
/// line, empty when it ran well.
std::string pgbench_failure(const std::string& error_output);
/// Whether that is of a client that was at work: its connection was lost, or a query failed.
bool is_aborted_client(const std::string& failure);

/// What pgbench tells of its transactions beside its final report.
struct PgbenchTelling {
  /// A line a second (--progress). It sets a limit to each wait of pgbench's first thread, which
  /// costs 3 % of tps where client and server share two CPUs: for the warm-up, not for a window.
  bool progress = false;
  bool log = true;  ///< logged_share() of the transactions, each with its end and its latency
  /// Transactions a second to expect, which decide over the share; nullopt: not known.
  std::optional<double> expected_tps = {};
};

/// Share of a role's transactions to log (--sampling-rate). All of scans, and of clients with a few
/// transactions; else what the experiment says. Else the largest power of two with which each of
/// `threads` logs no more than 1,250 lines a second (a line costs 1 to 1.5 µs: 0.2 % of a thread),
/// and all together no more than 20,000 (a megabyte a second); a power of two, so that arms of
/// about the same speed have the same share.
double logged_share(const PgbenchOptions& options, const SqlRole& role, int threads,
                    std::optional<double> expected_tps);

/// Latencies of logged transactions. pXX is the least latency that so many per cent of them do not
/// exceed (nearest rank): exact, in the log's whole microseconds.
struct LatencySummary {
  std::uint64_t logged = 0;
  double p50_us = 0, p95_us = 0, p99_us = 0, p999_us = 0, max_us = 0;
  double stddev_us = 0;  ///< of the population, as pgbench's own
};

struct TransactionLog {
  std::optional<LatencySummary> latency;  ///< nullopt when nothing was logged
  /// Transactions that ended in each whole second, counted from the begin of the first one: the
  /// logged ones ÷ share.
  std::vector<double> per_second;
};
/// Of the log files PREFIX.PID and PREFIX.PID.N; transactions that failed or were skipped have no
/// latency and count for nothing. The clients were at work until `end`, for `seconds` at most,
/// whatever the wall clock did meanwhile.
TransactionLog read_transaction_logs(const std::string& prefix, double share,
                                     std::chrono::system_clock::time_point end, double seconds);

/// Reads what a running pgbench appends to the file of its standard error, each byte once.
class PgbenchErrorReader {
 public:
  explicit PgbenchErrorReader(std::string path) : path_(std::move(path)) {}

  void read_more();
  /// Sum of tps × time of the progress lines.
  double transactions() const { return transactions_; }
  const std::vector<PgbenchProgress>& progress() const { return progress_; }
  /// All whole lines but those of the progress.
  const std::string& messages() const { return messages_; }

 private:
  void take_line(const std::string& line);

  std::string path_;
  std::streamoff offset_ = 0;
  std::string partial_line_;
  double transactions_ = 0;
  std::vector<PgbenchProgress> progress_;
  std::string messages_;
};

struct PgbenchTarget {
  std::string program;
  std::string library_directory;  ///< LD_LIBRARY_PATH; may be empty
  std::string socket_directory;
  int port = 0;
  std::string database = "postgres";
};

/// One pgbench process of one role.
class PgbenchRun {
 public:
  /// Writes the scripts and logs into `directory` (which must be writable for `user`, and outlive
  /// this) and starts pgbench, which runs until end() or, with `role.transactions`, until its
  /// clients have done theirs; else `seconds` is its own limit. `seed` goes to --random-seed. The
  /// rate of `options` is for point clients without one of their own.
  PgbenchRun(const PgbenchTarget& target, const PgbenchOptions& options, SqlRole role,
             const PgbenchTelling& telling, const Placement& placement,
             const std::optional<User>& user, double seconds, std::uint64_t seed,
             const std::string& directory);

  pid_t pid() const { return process_.pid(); }
  const SqlRole& role() const { return role_; }
  /// Its -j: it keeps no more CPUs busy than it has threads.
  int threads() const { return threads_; }
  /// The arguments after the program, as they were given: stored with the run.
  const std::vector<std::string>& arguments() const { return arguments_; }
  /// Transactions so far, and those of the newest second: from the progress lines, a second old at
  /// most. nullopt without them.
  std::optional<std::uint64_t> transactions() const;
  std::optional<double> newest_tps() const;
  /// True when it has ended by itself, as asked by role.transactions.
  bool has_finished();
  /// Throws Error(kRun) when it has died or has ended too early, BrokenRule when a client was
  /// aborted.
  void check_alive();
  /// Tells the timed run to end (SIGALRM, which is how pgbench's own -T ends it): its clients
  /// finish the transactions they are in. Does not wait, so that several processes end together.
  void request_end();
  /// request_end(), and waits up to 30 seconds; then kills it.
  void end();

  struct Result {
    PgbenchSummary summary;
    TransactionLog log;
    double cpu_seconds = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
    std::string report;        ///< its standard output, for the artifacts
    std::string error_output;  ///< without the progress lines
  };
  /// After end(). Throws Error(kRun) when the exit code is not 0, BrokenRule when clients were
  /// aborted.
  Result result();
  /// All that it has printed so far but the progress lines; at any time.
  std::string output() const;
  /// What its log tells until its end, or until now; the file lags behind while it runs.
  TransactionLog log() const;

 private:
  struct End {
    std::chrono::system_clock::time_point at;
    double seconds;  ///< that it was at work
  };

  [[noreturn]] void fail(const std::string& problem) const;
  End end_at_this_moment() const;
  void check_messages() const;
  void check_exit() const;

  SqlRole role_;
  std::string directory_;
  int threads_;
  bool tells_progress_;
  double logged_share_;
  std::vector<std::string> arguments_;
  mutable PgbenchErrorReader errors_;
  BackgroundProcess process_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::optional<End> end_;  ///< when it was told to end, or was seen to have ended
  bool asked_to_end_ = false;
  std::optional<ProcessExit> exit_;
};

/// "pgbench (PostgreSQL) 15.18 …" and the SHA-256 of the binary: what is recorded of the client.
std::string pgbench_identity(const std::string& program, const std::string& library_directory);
/// Its major version: 15. Throws Error(kPreflight) when the program cannot be run.
int pgbench_major_version(const std::string& program, const std::string& library_directory);

/// Empty when this pgbench can run the workload's scripts, else why not: permute() before 14, and
/// versions before 13, whose output is not read. (The exponents that it takes are Workload::sql()'s
/// to check.)
std::string pgbench_refuses(int major_version, const SqlWorkload& workload);

}  // namespace numabench
