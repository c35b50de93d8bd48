#include "runner/engines/postgres/server.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <signal.h>

#include <array>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "hosts/child.h"
#include "hosts/error.h"
#include "runner/engines/postgres/postgres_command.h"
#include "runner/engines/postgres/run_directory.h"
#include "runner/engines/postgres/server_log.h"
#include "runner/engines/postgres/stale_server.h"
#include "runner/measure/broken_rule.h"

namespace numabench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kPort = 5432;  // a part of the socket's name, in a folder that only this server has
// Short, whatever TMPDIR says: the path of a socket has 107 bytes at most.
constexpr const char* kSocketsParent = "/tmp";
constexpr const char* kSocketsPrefix = "numabench-";
constexpr milliseconds kReadyInterval{10};
constexpr seconds kFastPatience{30};
constexpr seconds kImmediatePatience{10};

// Ours, which no caller may change.
std::map<std::string, std::string> with_own_settings(std::map<std::string, std::string> settings,
                                                     const std::string& socket_directory) {
  settings["listen_addresses"] = "";
  settings["unix_socket_directories"] = socket_directory;
  settings["port"] = std::to_string(kPort);
  settings["restart_after_crash"] = "off";
  settings["logging_collector"] = "off";
  settings["log_destination"] = "stderr";
  return settings;
}

BackgroundProcess start_postmaster(const ServerOptions& options,
                                   const std::string& socket_directory) {
  ServerOptions own = options;
  own.settings = with_own_settings(options.settings, socket_directory);
  BackgroundProcess::Options process;
  process.command = postgres_command_options(own);
  process.output_path = process.error_path = options.log_path;
  process.death_signal = SIGINT;
  return BackgroundProcess::start(postgres_arguments(own), process);
}

std::string how_it_ended(const ProcessExit& exit) {
  if (exit.signal != 0) return fmt::format("was ended by signal {}", exit.signal);
  return fmt::format("ended with exit code {}", exit.exit_code);
}

// What the user must mend before any server of these settings can start.
bool is_of_the_host(const std::string& failure) {
  static constexpr std::array<std::string_view, 8> kSigns{"could not map anonymous shared memory",
                                                          "huge pages",
                                                          "could not create shared memory segment",
                                                          "could not create semaphores",
                                                          "No space left on device",
                                                          "could not access the library",
                                                          "could not access file",
                                                          "invalid value for parameter"};
  for (const std::string_view sign : kSigns) {
    if (failure.find(sign) != std::string::npos) return true;
  }
  return failure.find("unrecognized configuration parameter") != std::string::npos;
}

[[noreturn]] void throw_not_started(const std::string& how, const ServerLog& log) {
  const std::string failure = log.failure();
  throw Error(is_of_the_host(failure) ? ErrorKind::kPreflight : ErrorKind::kRun,
              fmt::format("the server {} before it accepted connections: {}", how,
                          failure.empty() ? "it wrote nothing" : failure),
              fmt::format("its log is {}", log.path()));
}

bool accepts_connections(const std::string& socket_directory) {
  const std::string port = std::to_string(kPort);
  const std::array<const char*, 6> keywords{"host", "port", "dbname", "user", "connect_timeout",
                                            nullptr};
  const std::array<const char*, 6> values{
      socket_directory.c_str(), port.c_str(), "postgres", "postgres", "2", nullptr};
  return PQpingParams(keywords.data(), values.data(), 0) == PQPING_OK;
}

void wait_until_ready(BackgroundProcess& process, const std::string& socket_directory,
                      const ServerLog& log, seconds timeout) {
  const Deadline deadline(timeout);
  while (!accepts_connections(socket_directory)) {
    if (const auto exit = process.poll()) throw_not_started(how_it_ended(*exit), log);
    if (deadline.has_passed()) {
      throw_not_started(fmt::format("took more than {} seconds", timeout.count()), log);
    }
    std::this_thread::sleep_for(kReadyInterval);
  }
}

}  // namespace

struct Server::State {
  explicit State(const ServerOptions& options)
      : data_directory(options.data_directory),
        notes(clean_stale_server(options.data_directory)),
        sockets(kSocketsParent, kSocketsPrefix, options.user),
        log(options.log_path),
        process(start_postmaster(options, sockets.path())) {}

  std::string data_directory;
  std::vector<std::string> notes;
  RunDirectory sockets;
  ServerLog log;
  BackgroundProcess process;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;

Server& Server::operator=(Server&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Server::~Server() {
  try {
    if (state_) stop();
  } catch (const std::exception&) {
    // The members' destructors kill it.
  }
}

Server Server::start(const ServerOptions& options) {
  Server server(std::make_unique<State>(options));
  State& state = *server.state_;
  wait_until_ready(state.process, state.sockets.path(), state.log, options.start_timeout);
  return server;
}

pid_t Server::pid() const { return state_->process.pid(); }
int Server::port() const { return kPort; }
const std::string& Server::socket_directory() const { return state_->sockets.path(); }
const std::vector<std::string>& Server::notes() const { return state_->notes; }

Connection Server::connect(const std::string& database) const {
  return Connection(socket_directory(), kPort, database);
}

void Server::check_alive() {
  const auto exit = state_->process.poll();
  std::string reason = state_->log.crash();
  if (!exit && reason.empty()) return;
  if (reason.empty()) reason = fmt::format("it {}: {}", how_it_ended(*exit), state_->log.failure());
  throw BrokenRule({"server_restarted", "the server crashed or was stopped: " + reason});
}

void Server::stop() {
  BackgroundProcess& process = state_->process;
  if (!process.poll()) {
    process.signal(SIGINT);
    if (!process.wait(kFastPatience)) process.signal(SIGQUIT);
    if (!process.wait(kImmediatePatience)) process.signal(SIGKILL);
    process.wait(kImmediatePatience);
  }
  // A postmaster that was killed leaves its file and perhaps backends; another server may have the
  // directory by now.
  if (recorded_postmaster(state_->data_directory) == process.pid()) {
    clean_stale_server(state_->data_directory);
  }
}

}  // namespace numabench
