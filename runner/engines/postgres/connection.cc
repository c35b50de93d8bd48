#include "runner/engines/postgres/connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "hosts/child.h"
#include "hosts/error.h"
#include "hosts/system_error.h"

namespace numabench {
namespace {

constexpr std::size_t kShownSql = 200;

// libpq's messages end in a line break and go on over several lines: "ERROR:  …\nDETAIL:  …".
std::string one_line(const char* message) {
  std::string line;
  for (const char* at = message; *at != '\0'; ++at) {
    if (*at != '\n') {
      line += *at;
    } else if (at[1] != '\0') {
      line += ' ';
    }
  }
  return line;
}

bool is_success(const PGresult* result) {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
    case PGRES_COPY_IN:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Connection::Closer::operator()(pg_conn* connection) const { PQfinish(connection); }
void Connection::ResultCloser::operator()(pg_result* result) const { PQclear(result); }

Connection::Connection(const std::string& socket_directory, int port, const std::string& database) {
  const std::string port_text = std::to_string(port);
  // Named are also those that the environment of whoever runs us could change.
  const std::array<const char*, 9> keywords{"host",    "port",    "dbname",     "user",
                                            "options", "sslmode", "gssencmode", "connect_timeout",
                                            nullptr};
  const std::array<const char*, 9> values{socket_directory.c_str(),
                                          port_text.c_str(),
                                          database.c_str(),
                                          "postgres",
                                          "-c client_min_messages=warning",
                                          "disable",
                                          "disable",
                                          "30",
                                          nullptr};
  connection_.reset(PQconnectdbParams(keywords.data(), values.data(), 0));
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    throw Error(ErrorKind::kRun, fmt::format("cannot connect to the server: {}",
                                             one_line(PQerrorMessage(connection_.get()))));
  }
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  PQsetnonblocking(connection_.get(), 1);  // so that every wait is ours and has a limit
}

Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

int Connection::server_version_num() const { return PQserverVersion(connection_.get()); }
int Connection::backend_pid() const { return PQbackendPID(connection_.get()); }

void Connection::throw_failure(const std::string& sql, const char* message) {
  const bool shortened = sql.size() > kShownSql;
  throw Error(ErrorKind::kRun, fmt::format("{} (statement: {}{})", one_line(message),
                                           sql.substr(0, kShownSql), shortened ? "…" : ""));
}

void Connection::wait_for_socket(short events) {
  const Deadline deadline(answer_limit_);
  pollfd socket{PQsocket(connection_.get()), events, 0};
  for (;;) {
    const int ready = ::poll(&socket, 1, deadline.poll_timeout_ms());
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw_errno("poll of a connection to the server");
    if (deadline.has_passed()) {
      throw Error(ErrorKind::kRun,
                  fmt::format("the server has not answered for {} seconds", answer_limit_.count()));
    }
  }
}

void Connection::flush() {
  for (;;) {
    const int left = PQflush(connection_.get());
    if (left == 0) return;
    // The server may want to be read before it reads on.
    if (left < 0 || PQconsumeInput(connection_.get()) == 0) {
      throw Error(ErrorKind::kRun, one_line(PQerrorMessage(connection_.get())));
    }
    wait_for_socket(POLLIN | POLLOUT);
  }
}

Connection::Result Connection::next_result() {
  flush();
  while (PQisBusy(connection_.get()) != 0) {
    wait_for_socket(POLLIN);
    // A lost connection is told by the result.
    if (PQconsumeInput(connection_.get()) == 0) break;
  }
  return Result(PQgetResult(connection_.get()));
}

Connection::Result Connection::last_result(const std::string& sql) {
  Result last;
  std::string failure;
  while (Result result = next_result()) {
    const ExecStatusType status = PQresultStatus(result.get());
    if (failure.empty() && !is_success(result.get())) {
      failure = PQresultErrorMessage(result.get());
    }
    last = std::move(result);
    if (status == PGRES_COPY_IN || PQstatus(connection_.get()) == CONNECTION_BAD) break;
  }
  if (!failure.empty()) throw_failure(sql, failure.c_str());
  if (!last) throw_failure(sql, PQerrorMessage(connection_.get()));
  return last;
}

void Connection::execute(const std::string& sql) {
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) {
    throw_failure(sql, PQerrorMessage(connection_.get()));
  }
  last_result(sql);
}

std::vector<Connection::Row> Connection::query(const std::string& sql,
                                               const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                        values.data(), nullptr, nullptr, 0) == 0) {
    throw_failure(sql, PQerrorMessage(connection_.get()));
  }
  return rows_of_last_result(sql);
}

std::vector<Connection::Row> Connection::query_again(const std::string& sql) {
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    const std::string name = fmt::format("again_{}", prepared_.size());
    if (PQsendPrepare(connection_.get(), name.c_str(), sql.c_str(), 0, nullptr) == 0) {
      throw_failure(sql, PQerrorMessage(connection_.get()));
    }
    last_result(sql);
    known = prepared_.emplace(sql, name).first;
  }
  if (PQsendQueryPrepared(connection_.get(), known->second.c_str(), 0, nullptr, nullptr, nullptr,
                          0) == 0) {
    throw_failure(sql, PQerrorMessage(connection_.get()));
  }
  return rows_of_last_result(sql);
}

std::vector<Connection::Row> Connection::rows_of_last_result(const std::string& sql) {
  const Result result = last_result(sql);
  std::vector<Row> rows;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    Row& cells = rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      if (PQgetisnull(result.get(), row, column) != 0) {
        cells.emplace_back();
      } else {
        cells.emplace_back(PQgetvalue(result.get(), row, column));
      }
    }
  }
  return rows;
}

std::optional<std::string> Connection::value(const std::string& sql,
                                             const std::vector<std::string>& parameters) {
  const std::vector<Row> rows = query(sql, parameters);
  if (rows.size() != 1 || rows.front().size() != 1) {
    throw_failure(sql, fmt::format("{} rows where a single value was wanted", rows.size()).c_str());
  }
  return rows.front().front();
}

Connection::CopyIn::CopyIn(Connection& connection, const std::string& sql)
    : connection_(connection), sql_(sql) {
  if (PQsendQuery(connection.connection_.get(), sql.c_str()) == 0) {
    connection.throw_failure(sql, PQerrorMessage(connection.connection_.get()));
  }
  const Result result = connection.last_result(sql);
  if (PQresultStatus(result.get()) != PGRES_COPY_IN) {
    connection.throw_failure(sql, "this statement takes no rows");
  }
}

Connection::CopyIn::~CopyIn() {
  if (finished_) return;
  try {
    PQputCopyEnd(connection_.connection_.get(), "given up");
    connection_.last_result(sql_);
  } catch (const Error&) {
    // That is the server's answer to giving up.
  }
}

void Connection::CopyIn::write(const std::string& text) {
  pg_conn* connection = connection_.connection_.get();
  const int taken = PQputCopyData(connection, text.data(), static_cast<int>(text.size()));
  if (taken <= 0) connection_.throw_failure(sql_, PQerrorMessage(connection));
  connection_.flush();
}

void Connection::CopyIn::finish() {
  finished_ = true;
  pg_conn* connection = connection_.connection_.get();
  if (PQputCopyEnd(connection, nullptr) <= 0) {
    connection_.throw_failure(sql_, PQerrorMessage(connection));
  }
  connection_.last_result(sql_);
}

std::string sql_identifier(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"') result += '"';
    result += character;
  }
  return result + '"';
}

}  // namespace numabench
