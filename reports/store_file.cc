#include "reports/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "hosts/error.h"
#include "reports/migrations/migrations.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;

/// "NbRS" in the header of the file, where file(1) and we tell it from other SQLite files.
constexpr int kApplicationId = 0x4e625253;

/// How long to wait for another process's transaction; one of ours takes milliseconds.
constexpr int kBusyTimeoutMs = 30'000;

constexpr const char* kLocalPathRemedy = "put the results on a local path with --db";
constexpr const char* kWritablePathRemedy =
    "check its permissions, or put the results on a writable path with --db";

[[noreturn]] void refuse_foreign(const std::string& path) {
  throw Error(ErrorKind::kUsage, path + " is not a numabench results file",
              "name another file with --db");
}

/// The schema version of a store, 0 of a file without content.
std::size_t schema_version(SQLite::Database& database, const std::string& path,
                           std::size_t newest) {
  // One statement sees one state of the file; between two, another process may fill it.
  SQLite::Statement header(database,
                           "SELECT (SELECT application_id FROM pragma_application_id), "
                           "(SELECT user_version FROM pragma_user_version), count(*) "
                           "FROM sqlite_schema");
  header.executeStep();
  const int application = header.getColumn(0).getInt();
  const int version = header.getColumn(1).getInt();
  const int objects = header.getColumn(2).getInt();
  if (application != kApplicationId) {
    if (application != 0 || version != 0 || objects != 0) refuse_foreign(path);
    return 0;
  }
  if (version < 0 || static_cast<std::size_t>(version) > newest) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{} has schema {}, newer than this numabench's {}", path, version, newest),
        "use the numabench that wrote it, or a later one");
  }
  return static_cast<std::size_t>(version);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot create the folder {}: {}", folder.string(), error.message()),
                kWritablePathRemedy);
  }
}

/// Takes and drops the kind of lock that SQLite takes, on a file of its own: a process that closes
/// any descriptor of a file drops all its locks on it, so the store itself must not be touched.
/// SQLite would report a filesystem without locks as "database is locked", after waiting in vain.
void require_locks(const fs::path& folder) {
  std::string probe = (folder / ".numabench-lock-XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("cannot write in {}: {}", folder.string(), std::strerror(errno)),
                kWritablePathRemedy);
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const int lock_error = fcntl(descriptor, F_SETLK, &lock) == 0 ? 0 : errno;
  close(descriptor);
  unlink(probe.c_str());
  if (lock_error != 0) {
    throw Error(ErrorKind::kPreflight,
                fmt::format("the filesystem of {} has no working file locks ({})", folder.string(),
                            std::strerror(lock_error)),
                kLocalPathRemedy);
  }
}

/// An exclusive connection keeps the WAL's index in its own memory, so that it can read a file that
/// was written with a WAL elsewhere and convert it. Must be the first use of `database`.
void use_rollback_journal(SQLite::Database& database, const std::string& path) {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  schema_version(database, path,
                 migrations().size());  // refuses a file that is not ours to convert
  database.exec("PRAGMA journal_mode = DELETE");
  database.exec("PRAGMA locking_mode = NORMAL");
  database.execAndGet("SELECT count(*) FROM sqlite_schema");  // gives up the exclusive lock
}

/// Somebody who is reading a file that has no WAL yet keeps it from having one; a later opening
/// will succeed, and the rollback journal is as safe meanwhile.
void use_wal(SQLite::Database& database) {
  const int result = database.tryExec("PRAGMA journal_mode = WAL");
  if (result != SQLITE_OK && result != SQLITE_BUSY && result != SQLITE_LOCKED) {
    throw SQLite::Exception(database.getHandle(), result);
  }
}

/// EXTRA is FULL, and with a rollback journal makes its removal durable too: a run that add_run()
/// returned survives a power cut. Checkpointing after each commit keeps the main file complete, so
/// that a plain copy of it, made between two runs, has them all.
void set_durability(SQLite::Database& database) {
  database.exec("PRAGMA synchronous = EXTRA");
  database.exec("PRAGMA wal_autocheckpoint = 1");
  database.exec("PRAGMA foreign_keys = ON");
}

std::unique_ptr<SQLite::Database> open_writable(const std::string& path) {
  auto database = std::make_unique<SQLite::Database>(
      path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs);
  // SQLite opens a file that it may not write for reading, and says so only when asked.
  if (sqlite3_db_readonly(database->getHandle(), "main") == 1) {
    throw Error(ErrorKind::kPreflight, path + " is read-only", kWritablePathRemedy);
  }
  return database;
}

/// `path` as a URI that says that nobody can change the file.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || std::strchr("/._-~", c) != nullptr;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?immutable=1";
}

/// SQLite's extended result code, whose low byte is the primary one.
int result_code(const SQLite::Exception& exception) {
  const int extended = exception.getExtendedErrorCode();
  return extended > 0 ? extended : exception.getErrorCode();
}

/// A store whose writer is gone has no WAL beside it, but its header asks for one, and SQLite
/// cannot make one on read-only media.
bool needs_immutable(const std::string& path, const SQLite::Exception& exception) {
  const int code = result_code(exception) & 0xff;
  return (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && !fs::exists(path + "-wal");
}

/// Opened for writing where that is allowed, and then told not to: the last to close a file with a
/// WAL tidies up behind all, which a connection that may not write cannot.
std::unique_ptr<SQLite::Database> open_readable(const std::string& path) {
  try {
    auto database =
        std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
    database->exec("PRAGMA query_only = ON");
    database->execAndGet("SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (const SQLite::Exception& exception) {
    if (!needs_immutable(path, exception)) throw;
  }
  return std::make_unique<SQLite::Database>(
      immutable_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyTimeoutMs);
}

/// Absolute, since SQLite gives names such as ":memory:" a meaning of their own.
std::string file_path(const std::string& path) {
  std::error_code unknown;  // then opening it will say what is wrong
  if (path.empty() || fs::is_directory(path, unknown)) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is not the name of a results file", path),
                "name one with --db");
  }
  return fs::absolute(path).string();
}

bool is_lock_failure(const SQLite::Exception& exception) {
  switch (result_code(exception)) {
    case SQLITE_PROTOCOL:
    case SQLITE_IOERR_LOCK:
    case SQLITE_IOERR_RDLOCK:
    case SQLITE_IOERR_UNLOCK:
    case SQLITE_IOERR_CHECKRESERVEDLOCK:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMLOCK:
    case SQLITE_IOERR_SHMMAP:
      return true;
    default:
      return false;
  }
}

}  // namespace

Journal journal_for_filesystem(unsigned long type) {
  switch (type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case V9FS_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case CODA_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case OCFS2_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:  // sshfs, virtiofs, and much else
    case 0x01161970:        // GFS2
    case 0x0bd00bd0:        // Lustre
    case 0x19830326:        // BeeGFS
    case 0x47504653:        // Spectrum Scale
    case 0x786f4256:        // VirtualBox shared folder
      return Journal::kRollback;
    default:
      return Journal::kWal;
  }
}

void migrate(SQLite::Database& database, const std::string& path,
             const std::vector<std::string_view>& migrations) {
  while (schema_version(database, path, migrations.size()) < migrations.size()) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Asked again under the lock: another process may have done it since.
    const std::size_t version = schema_version(database, path, migrations.size());
    if (version < migrations.size()) {
      database.exec(std::string(migrations[version]));
      database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                kApplicationId, version + 1));
    }
    transaction.commit();
  }
}

std::unique_ptr<SQLite::Database> open_store_for_writing(const std::string& path) {
  const fs::path folder = fs::path(file_path(path)).parent_path();
  make_folder(folder);
  struct statfs filesystem {};
  const bool known = statfs(folder.c_str(), &filesystem) == 0;
  const auto type = static_cast<unsigned long>(filesystem.f_type);
  return open_store_for_writing(path, known ? journal_for_filesystem(type) : Journal::kRollback);
}

std::unique_ptr<SQLite::Database> open_store_for_writing(const std::string& path, Journal journal) {
  const std::string file = file_path(path);
  require_locks(fs::path(file).parent_path());
  return with_store_errors(path, [&] {
    auto database = open_writable(file);
    if (journal == Journal::kRollback) use_rollback_journal(*database, path);
    migrate(*database, path, migrations());
    if (journal == Journal::kWal) use_wal(*database);
    set_durability(*database);
    return database;
  });
}

std::unique_ptr<SQLite::Database> open_store_for_reading(const std::string& path) {
  const std::string file = file_path(path);
  std::error_code unknown;  // then opening it will say what is wrong
  if (!fs::exists(file, unknown) && !unknown) {
    throw Error(ErrorKind::kUsage, "there is no results file " + path,
                "name one with --db, or run an experiment first");
  }
  return with_store_errors(path, [&] {
    auto database = open_readable(file);
    const std::size_t version = schema_version(*database, path, migrations().size());
    if (version == 0) refuse_foreign(path);
    if (version < migrations().size()) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} has schema {}, older than this numabench's {}", path, version,
                              migrations().size()),
                  "run or resume an experiment with this --db once, which brings it up to date");
    }
    return database;
  });
}

void throw_store_error(const std::string& path, const SQLite::Exception& exception) {
  const std::string problem = fmt::format("{}: {}", path, exception.what());
  if (is_lock_failure(exception)) {
    throw Error(
        ErrorKind::kPreflight,
        fmt::format("the filesystem of {} has no working locks ({})", path, exception.what()),
        kLocalPathRemedy);
  }
  switch (result_code(exception) & 0xff) {
    case SQLITE_NOTADB:
      refuse_foreign(path);
    case SQLITE_CORRUPT:
      throw Error(ErrorKind::kUsage, fmt::format("{} is damaged ({})", path, exception.what()),
                  "take a copy of it, or save what is left with the .recover command of sqlite3");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorKind::kRun,
                  fmt::format("another process has kept {} locked for {} seconds", path,
                              kBusyTimeoutMs / 1000),
                  "wait until it ends, then resume");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw Error(ErrorKind::kRun, problem, "free space or repair the disk, then resume");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(ErrorKind::kPreflight, problem, kWritablePathRemedy);
    default:
      throw Error(ErrorKind::kInternal, problem);
  }
}

}  // namespace numabench
