// Opening the file of a results store: what SQLite must be told, and what must be refused before it
// is told anything. Used by the stores of experiments and probes, and their tests, only.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace numabench {

/// How a transaction is made atomic. A WAL lets readers read while a run is being written, and
/// needs memory shared between all who open the file; a rollback journal needs working locks only.
enum class Journal { kWal, kRollback };

/// kRollback where the statfs() type of a filesystem says that it is served by another host or by a
/// program, so that memory may not be shared between all who open a file.
Journal journal_for_filesystem(unsigned long type);

/// Opens for writing: creates the folder and the file where absent and brings the schema up to
/// date, with the journal for its filesystem. Throws as Store::open().
std::unique_ptr<SQLite::Database> open_store_for_writing(const std::string& path);

/// The same with a journal of the caller's choice, to which the file is converted.
std::unique_ptr<SQLite::Database> open_store_for_writing(const std::string& path, Journal journal);

/// Opens for reading, beside a writer or not, and from media that cannot be written. Throws as
/// Store::open().
std::unique_ptr<SQLite::Database> open_store_for_reading(const std::string& path);

/// Brings `database` to schema version `migrations.size()`: each migration, the new version and the
/// mark of a numabench store in one transaction, which is undone when it fails. `path` is for
/// errors. Throws Error(kUsage) when the database is another program's or of a newer schema.
void migrate(SQLite::Database& database, const std::string& path,
             const std::vector<std::string_view>& migrations);

/// Throws what the user of the store at `path` shall see for what SQLite said.
[[noreturn]] void throw_store_error(const std::string& path, const SQLite::Exception& exception);

/// Calls `use`, turning SQLite's exceptions into ours.
template <typename Use>
auto with_store_errors(const std::string& path, const Use& use) {
  try {
    return use();
  } catch (const SQLite::Exception& exception) {
    throw_store_error(path, exception);
  }
}

}  // namespace numabench
