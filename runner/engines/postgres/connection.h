// A connection to a PostgreSQL server: libpq with errors as exceptions.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace numabench {

/// Every call throws Error(kRun) with the server's words for a statement that fails, and for a
/// server that does not answer within the limit; the connection is of no further use after that.
class Connection {
 public:
  using Row = std::vector<std::optional<std::string>>;

  /// By Unix socket, as the superuser `postgres`. Throws Error(kRun) with the server's words.
  Connection(const std::string& socket_directory, int port, const std::string& database);
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;

  /// How long the server may take over one call; ten minutes unless set.
  void limit_answers(std::chrono::seconds limit) { answer_limit_ = limit; }

  int server_version_num() const;
  /// The server process of this connection.
  int backend_pid() const;

  /// One statement or several; their results are dropped.
  void execute(const std::string& sql);
  /// The rows of one statement, with parameters as text for $1, $2, …
  std::vector<Row> query(const std::string& sql, const std::vector<std::string>& parameters = {});
  /// The same rows of one statement without parameters, which this connection plans the first time
  /// only: for looks that are taken again and again beside clients. Views of statistics take ten
  /// times longer to plan than to read.
  std::vector<Row> query_again(const std::string& sql);
  /// The single value of one row with one column; nullopt for NULL. Throws when there are more.
  std::optional<std::string> value(const std::string& sql,
                                   const std::vector<std::string>& parameters = {});

  /// COPY … FROM STDIN. `text` is whole lines of its text format or parts of them.
  class CopyIn {
   public:
    CopyIn(Connection& connection, const std::string& sql);
    ~CopyIn();  ///< gives up what was not finished
    void write(const std::string& text);
    void finish();

   private:
    Connection& connection_;
    std::string sql_;
    bool finished_ = false;
  };

 private:
  struct Closer {
    void operator()(pg_conn* connection) const;
  };
  struct ResultCloser {
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, ResultCloser>;

  /// Hands over what libpq holds back because the server had not read it yet.
  void flush();
  /// The next result of the statement that was sent; none after the last.
  Result next_result();
  /// The last result of what was sent, after the others were checked and dropped.
  Result last_result(const std::string& sql);
  void wait_for_socket(short events);
  std::vector<Row> rows_of_last_result(const std::string& sql);
  [[noreturn]] void throw_failure(const std::string& sql, const char* message);

  std::unique_ptr<pg_conn, Closer> connection_;
  std::chrono::seconds answer_limit_{600};
  std::map<std::string, std::string> prepared_;  ///< names of statements by their text
};

/// `text` as an SQL identifier, quoted.
std::string sql_identifier(const std::string& text);

}  // namespace numabench
