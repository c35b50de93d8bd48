#include "runner/engines/postgres/dataset_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "hosts/error.h"
#include "hosts/units.h"

namespace numabench {
namespace {

constexpr std::uint64_t kRowsPerBranch = 100'000;  // of pgbench: bid counts them
constexpr std::size_t kChunkBytes = 1 << 20;       // of COPY data sent at once
constexpr std::chrono::hours kStatementLimit{24};

/// Tells of each percent of a table's rows, with the time that the rest will take.
class LoadProgress {
 public:
  LoadProgress(const SqlTable& table, const LoadObserver& observer)
      : table_(table), observer_(observer) {
    observer_(fmt::format("loading {}", table.name));
  }

  void add(std::uint64_t rows) {
    done_ += rows;
    const std::uint64_t percent = done_ * 100 / table_.rows;
    if (percent == told_) return;
    told_ = percent;
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    const double left =
        elapsed.count() * static_cast<double>(table_.rows - done_) / static_cast<double>(done_);
    observer_(fmt::format("loading {}, {} %, ETA {}", table_.name, percent, format_duration(left)));
  }

 private:
  using Clock = std::chrono::steady_clock;

  const SqlTable& table_;
  const LoadObserver& observer_;
  Clock::time_point start_ = Clock::now();
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
};

void append_number(std::string& text, std::uint64_t number) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// A row of pgbench_accounts in COPY's text format; the server pads the filler with blanks.
void append_row(std::string& text, std::uint64_t aid) {
  append_number(text, aid);
  text += '\t';
  append_number(text, (aid - 1) / kRowsPerBranch + 1);
  text += "\t0\t\n";
}

void copy_rows(Connection& connection, const std::string& relation, const RowRange& range,
               LoadProgress& progress) {
  Connection::CopyIn copy(connection,
                          fmt::format("COPY {} FROM STDIN (FREEZE)", sql_identifier(relation)));
  std::string chunk;
  std::uint64_t in_chunk = 0;
  for (std::uint64_t aid = range.first; aid <= range.last; ++aid) {
    append_row(chunk, aid);
    ++in_chunk;
    if (chunk.size() < kChunkBytes && aid != range.last) continue;
    copy.write(chunk);
    progress.add(in_chunk);
    chunk.clear();
    in_chunk = 0;
  }
  copy.finish();
}

std::string partition_name(const SqlTable& table, std::size_t index) {
  return fmt::format("{}_{}", table.name, index + 1);
}

/// The first and the last partition are open, as those of pgbench -i.
std::string partition_bounds(const std::vector<RowRange>& ranges, std::size_t index) {
  const bool is_last = index + 1 == ranges.size();
  return fmt::format("FROM ({}) TO ({})",
                     index == 0 ? "MINVALUE" : std::to_string(ranges[index].first),
                     is_last ? "MAXVALUE" : std::to_string(ranges[index].last + 1));
}

/// COPY can freeze what was made in its own transaction, and only a table that has no partitions:
/// rows go directly into each.
void load_table(Connection& connection, const SqlTable& table, const LoadObserver& observer) {
  LoadProgress progress(table, observer);
  const std::vector<RowRange> ranges = partition_ranges(table);
  const bool is_partitioned = table.partitions > 1;
  connection.execute("BEGIN");
  connection.execute(
      fmt::format("CREATE TABLE {} (aid int NOT NULL, bid int, abalance int, filler char(84)){}",
                  sql_identifier(table.name), is_partitioned ? " PARTITION BY RANGE (aid)" : ""));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string leaf = is_partitioned ? partition_name(table, i) : table.name;
    if (is_partitioned) {
      connection.execute(fmt::format("CREATE TABLE {} PARTITION OF {} FOR VALUES {}",
                                     sql_identifier(leaf), sql_identifier(table.name),
                                     partition_bounds(ranges, i)));
    }
    copy_rows(connection, leaf, ranges[i], progress);
  }
  connection.execute("COMMIT");
}

void create_extensions(Connection& connection) {
  for (const char* extension : {"pg_buffercache", "pg_prewarm"}) {
    const auto there =
        connection.query("SELECT 1 FROM pg_available_extensions WHERE name = $1", {extension});
    if (there.empty()) {
      throw Error(ErrorKind::kPreflight, fmt::format("the server has no extension {}", extension),
                  "install PostgreSQL's contrib modules");
    }
    connection.execute(fmt::format("CREATE EXTENSION {}", extension));
  }
}

/// CREATE FUNCTION … LANGUAGE C would load the library, which only the arms built here have, and
/// all arms of a catalog version share the dataset. So the catalog row is made with another
/// function's body, which is then replaced; the library is looked for when it is called.
void create_clock_function(Connection& connection) {
  connection.execute(
      "CREATE FUNCTION numabench_clock() RETURNS bigint LANGUAGE internal STRICT "
      "AS 'pg_backend_pid'");
  connection.execute(
      "UPDATE pg_proc SET prolang = (SELECT oid FROM pg_language WHERE lanname = 'c'), "
      "prosrc = 'numabench_clock', probin = 'numabench_clock' "
      "WHERE oid = 'numabench_clock()'::regprocedure");
}

}  // namespace

std::vector<RowRange> partition_ranges(const SqlTable& table) {
  const auto partitions = static_cast<std::uint64_t>(std::max(1, table.partitions));
  const std::uint64_t size = (table.rows + partitions - 1) / partitions;
  std::vector<RowRange> ranges;
  for (std::uint64_t i = 0; i < partitions; ++i) {
    const std::uint64_t before = std::min(i * size, table.rows);
    ranges.push_back({before + 1, std::min(before + size, table.rows)});
  }
  return ranges;
}

std::map<std::string, std::string> load_settings() {
  return {{"shared_buffers", "128MB"},
          {"huge_pages", "off"},
          {"maintenance_work_mem", fmt::format("{}kB", kLoadSortMemoryBytes / 1024)},
          {"wal_level", "minimal"},
          {"max_wal_senders", "0"},
          {"fsync", "off"},
          {"full_page_writes", "off"},
          {"synchronous_commit", "off"},
          {"autovacuum", "off"}};
}

void load_dataset(Connection& connection, const SqlWorkload& workload,
                  const LoadObserver& observer) {
  connection.limit_answers(kStatementLimit);
  for (const SqlTable& table : workload.tables) load_table(connection, table, observer);
  for (const SqlTable& table : workload.tables) {
    if (!table.primary_key) continue;
    observer(fmt::format("indexing {}", table.name));
    connection.execute(
        fmt::format("ALTER TABLE {} ADD PRIMARY KEY (aid)", sql_identifier(table.name)));
  }
  if (!workload.setup.empty()) observer("executing the workload's setup");
  for (const std::string& statement : workload.setup) connection.execute(statement);
  create_extensions(connection);
  create_clock_function(connection);
  observer("vacuuming");
  connection.execute("VACUUM (ANALYZE, FREEZE)");
  observer("writing back");
  connection.execute("CHECKPOINT");
}

}  // namespace numabench
