// Opening results files: new, foreign, damaged, of other schemas, on media that refuse.
#include "reports/store_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "hosts/error.h"
#include "hosts/process.h"
#include "reports/migrations/migrations.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using test::add_cells;
using test::run_record;
using testing::AllOf;
using testing::HasSubstr;
using testing::Property;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a call in a process of its own came to: 0, or the exit code of its Error, or 99 if the
/// Error does not say what to do.
int in_child(const std::function<void()>& call) {
  Worker worker = Worker::fork(Placement{}, [&] {
    try {
      call();
      return 0;
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return error.remedy().empty() ? 99 : exit_code(error.kind());
    }
  });
  const Worker::Exit exit = worker.wait(std::chrono::minutes(2));
  return exit.signal == 0 ? exit.exit_code : -exit.signal;
}

/// Permissions bind everybody but root.
void become_unprivileged() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) std::abort();
}

class StoreFile : public test::StoreFolder {
 protected:
  void write_one_run() const {
    Store store = open_for_writing();
    store.add_run(
        run_record(add_cells(store, {"stock"}, {"g"})[0].id, 1, {MetricValue::of("tps", 1)}));
  }

  /// Both modes refuse the file with `kind` and `message`, and leave it as it is.
  void expect_refused(ErrorKind kind, const std::string& message) const {
    const std::string before = contents(path_);
    for (const Store::Mode mode : {Store::Mode::kReadOnly, Store::Mode::kReadWrite}) {
      try {
        Store::open(path_, mode);
        ADD_FAILURE() << "opened " << path_;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        EXPECT_THAT(error.problem(), AllOf(HasSubstr(path_), HasSubstr(message)));
        EXPECT_NE(error.remedy(), "");
      }
    }
    EXPECT_TRUE(contents(path_) == before) << "a refused file was changed";
  }
};

TEST_F(StoreFile, IsMadeWithItsFoldersAndOpensAgain) {
  path_ = (folder_ / "results" / "of today" / "quick.db").string();
  write_one_run();
  write_one_run();
  EXPECT_EQ(open_for_reading().experiments().size(), 2U);
}

TEST_F(StoreFile, LeavesNoOtherFileBehind) {
  write_one_run();
  open_for_reading().experiments();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, testing::ElementsAre("results.db"));
}

TEST_F(StoreFile, TakesNamesThatMeanSomethingToSqliteAsNames) {
  for (const char* name : {"a b?mode=memory#c%41&\u00e9.db", ":memory:", "file:x.db"}) {
    path_ = (folder_ / name).string();
    write_one_run();
    EXPECT_TRUE(fs::exists(path_)) << name;
    EXPECT_EQ(open_for_reading().runs(1).size(), 1U) << name;
  }
}

TEST_F(StoreFile, ARelativeNameIsRelativeToTheWorkingDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  Store::open(":memory:", Store::Mode::kReadWrite);
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(folder_ / ":memory:"));
}

TEST_F(StoreFile, AnEmptyFileBecomesAStoreButIsNotOne) {
  std::ofstream(path_).flush();
  EXPECT_THROW(open_for_reading(), Error);
  write_one_run();
  EXPECT_EQ(open_for_reading().runs(1).size(), 1U);
}

TEST_F(StoreFile, WhatIsNotThereIsNotRead) {
  EXPECT_THAT([&] { open_for_reading(); },
              testing::Throws<Error>(AllOf(Property(&Error::kind, ErrorKind::kUsage),
                                           Property(&Error::problem, HasSubstr(path_)))));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(StoreFile, AFolderOrNothingIsNoResultsFile) {
  for (const std::string& name : {std::string(), folder_.string()}) {
    EXPECT_THROW(Store::open(name, Store::Mode::kReadWrite), Error) << name;
    EXPECT_THROW(Store::open(name, Store::Mode::kReadOnly), Error) << name;
  }
}

TEST_F(StoreFile, RefusesOtherFiles) {
  std::ofstream(path_) << std::string(5000, 'x');
  expect_refused(ErrorKind::kUsage, "not a numabench results file");
}

TEST_F(StoreFile, RefusesTheDatabasesOfOtherPrograms) {
  SQLite::Database(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE experiment (id INTEGER PRIMARY KEY)");
  expect_refused(ErrorKind::kUsage, "not a numabench results file");
}

TEST_F(StoreFile, RefusesANewerSchema) {
  write_one_run();
  SQLite::Database(path_, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 12345");
  expect_refused(ErrorKind::kUsage, "has schema 12345");
}

TEST_F(StoreFile, AnOlderSchemaIsNotReadAsIfItWereOurs) {
  write_one_run();
  SQLite::Database(path_, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 0");
  EXPECT_THROW(open_for_reading(), Error);
}

TEST_F(StoreFile, RefusesWhatIsCutShort) {
  write_one_run();
  const std::string whole = contents(path_);
  for (const std::size_t size : {whole.size() - 4096, whole.size() / 2, std::size_t{4096},
                                 std::size_t{600}, std::size_t{99}}) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    SCOPED_TRACE(testing::Message() << size << " of " << whole.size() << " bytes");
    expect_refused(ErrorKind::kUsage, "");
  }
}

TEST_F(StoreFile, IsMarkedAsOurs) {
  write_one_run();
  // Offset 68 of SQLite's file format: the application's id, big-endian.
  EXPECT_EQ(contents(path_).substr(68, 4), "NbRS");
}

TEST_F(StoreFile, MigratesInOneTransactionEach) {
  SQLite::Database database(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const std::vector<std::string_view> failing = {
      "CREATE TABLE first (x INTEGER)",
      "CREATE TABLE second (x INTEGER); INSERT INTO first VALUES (1); nonsense"};
  EXPECT_THROW(migrate(database, path_, failing), SQLite::Exception);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_TRUE(database.tableExists("first"));
  EXPECT_FALSE(database.tableExists("second"));
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM first").getInt(), 0);

  const std::vector<std::string_view> mended = {failing[0], "CREATE TABLE second (x INTEGER)"};
  migrate(database, path_, mended);
  migrate(database, path_, mended);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 2);
  EXPECT_TRUE(database.tableExists("second"));
}

TEST_F(StoreFile, TheSqliteProgramFindsNothingWrong) {
  write_one_run();
  const CommandResult result =
      run_command({"sqlite3", "-readonly", path_,
                   "PRAGMA integrity_check; PRAGMA foreign_key_check; PRAGMA user_version"});
  ASSERT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out, "ok\n" + std::to_string(migrations().size()) + "\n");
}

TEST_F(StoreFile, IsReadFromMediaThatCannotBeWritten) {
  path_ = (folder_ / "50 %?.db").string();
  write_one_run();
  fs::permissions(path_, fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_EQ(in_child([&] {
              become_unprivileged();
              if (open_for_reading().runs(1).at(0).values.at(0).value != 1) std::abort();
            }),
            0);
  fs::permissions(folder_, fs::perms(0755));
}

TEST_F(StoreFile, IsReadBesideAWriterFromAFolderThatTheReaderMayNotWrite) {
  Store writer = open_for_writing();
  writer.add_run(run_record(add_cells(writer, {"stock"}, {"g"})[0].id, 1));
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_EQ(in_child([&] {
              become_unprivileged();
              if (open_for_reading().runs(1).size() != 1) std::abort();
            }),
            0);
}

TEST_F(StoreFile, SaysWhereItCannotWrite) {
  write_one_run();
  fs::permissions(folder_, fs::perms(0777));
  fs::permissions(path_, fs::perms(0444));
  const auto open_unprivileged = [&] {
    become_unprivileged();
    open_for_writing();
  };
  EXPECT_EQ(in_child(open_unprivileged), exit_code(ErrorKind::kPreflight)) << "file";
  fs::permissions(folder_, fs::perms(0555));
  EXPECT_EQ(in_child(open_unprivileged), exit_code(ErrorKind::kPreflight)) << "folder";
  path_ = (folder_ / "deeper" / "results.db").string();
  EXPECT_EQ(in_child(open_unprivileged), exit_code(ErrorKind::kPreflight)) << "folder to make";
  fs::permissions(folder_, fs::perms(0755));
}

/// From here on the kernel refuses this process file locks, as an NFS mount without lockd does.
void take_away_locks() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::abort();
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) std::abort();
}

// Requirement B 30.
TEST_F(StoreFile, AFilesystemWithoutLocksIsRefusedWithALocalPathOffered) {
  EXPECT_EQ(in_child([&] {
              take_away_locks();
              try {
                open_for_writing();
              } catch (const Error& error) {
                const std::string text = error.what();
                if (text.find("no working file locks") == std::string::npos) std::abort();
                if (text.find("local path with --db") == std::string::npos) std::abort();
                throw;
              }
            }),
            exit_code(ErrorKind::kPreflight));
  EXPECT_TRUE(fs::is_empty(folder_)) << "a refusal leaves nothing behind";
}

// Requirement B 30: SQLite's own words for the same.
TEST_F(StoreFile, LockingErrorsOfSqliteOfferALocalPath) {
  for (const int code : {SQLITE_PROTOCOL, SQLITE_IOERR_LOCK, SQLITE_IOERR_SHMLOCK}) {
    EXPECT_EQ(
        in_child([&] { throw_store_error(path_, SQLite::Exception("locking protocol", code)); }),
        exit_code(ErrorKind::kPreflight));
  }
}

TEST_F(StoreFile, NetworkFilesystemsGetNoWal) {
  EXPECT_EQ(journal_for_filesystem(0x6969), Journal::kRollback) << "NFS";
  EXPECT_EQ(journal_for_filesystem(0xfe534d42), Journal::kRollback) << "SMB 2";
  EXPECT_EQ(journal_for_filesystem(0xff534d42), Journal::kRollback) << "CIFS";
  EXPECT_EQ(journal_for_filesystem(0x01021997), Journal::kRollback) << "9p";
  EXPECT_EQ(journal_for_filesystem(0x0bd00bd0), Journal::kRollback) << "Lustre";
  EXPECT_EQ(journal_for_filesystem(0xef53), Journal::kWal) << "ext4";
  EXPECT_EQ(journal_for_filesystem(0x58465342), Journal::kWal) << "XFS";
  EXPECT_EQ(journal_for_filesystem(0x9123683e), Journal::kWal) << "btrfs";
  EXPECT_EQ(journal_for_filesystem(0x01021994), Journal::kWal) << "tmpfs";
  EXPECT_EQ(journal_for_filesystem(0x794c7630), Journal::kWal) << "overlay";
}

/// What SQLite's file format says of the journal at offset 18: "\1\1" rollback, "\2\2" WAL.
std::string journal_of(const std::string& path) { return contents(path).substr(18, 2); }

TEST_F(StoreFile, AWalIsConvertedWhereItCannotBeUsed) {
  write_one_run();
  ASSERT_EQ(journal_of(path_), "\2\2");
  const auto first = open_store_for_writing(path_, Journal::kRollback);
  EXPECT_EQ(journal_of(path_), "\1\1");
  const auto second = open_store_for_writing(path_, Journal::kRollback);
  second->exec("UPDATE host SET hostname = 'another writer'");
  EXPECT_EQ(first->execAndGet("SELECT hostname FROM host").getString(), "another writer");
  EXPECT_EQ(open_for_reading().runs(1).size(), 1U);
}

TEST_F(StoreFile, ANewFileNeedsNoWalEither) {
  open_store_for_writing(path_, Journal::kRollback)
      ->exec("INSERT INTO host VALUES (1, '', '', '')");
  EXPECT_EQ(journal_of(path_), "\1\1");
  EXPECT_TRUE(open_for_reading().host(1).has_value());
}

TEST_F(StoreFile, RefusalsDoNotDependOnTheJournal) {
  SQLite::Database(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA journal_mode = WAL; CREATE TABLE mine (id INTEGER PRIMARY KEY)");
  const std::string before = contents(path_);
  EXPECT_THROW(open_store_for_writing(path_, Journal::kRollback), Error);
  EXPECT_TRUE(contents(path_) == before) << "somebody else's file was converted";
}

// People take a copy of the file while an experiment runs.
TEST_F(StoreFile, ACopyOfTheFileAloneHasEveryRun) {
  Store writer = open_for_writing();
  const std::int64_t cell = add_cells(writer, {"stock"}, {"g"})[0].id;
  for (int repetition = 1; repetition <= 3; ++repetition) {
    writer.add_run(run_record(cell, repetition));
    const std::string copy = (folder_ / ("copy" + std::to_string(repetition))).string();
    fs::copy_file(path_, copy);
    EXPECT_EQ(Store::open(copy, Store::Mode::kReadOnly).runs(1).size(),
              static_cast<std::size_t>(repetition));
  }
}

TEST_F(StoreFile, AFullDiskCostsTheRunAndNothingElse) {
  write_one_run();
  EXPECT_EQ(in_child([&] {
              Store store = open_for_writing();
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit = {200'000, 200'000};
              setrlimit(RLIMIT_FSIZE, &limit);
              RunRecord run = run_record(1, 2);
              std::mt19937_64 random(3);
              std::string noise(1'000'000, '\0');
              for (char& byte : noise) byte = static_cast<char>(random());
              run.artifacts = {{"log", noise}};
              store.add_run(run);
            }),
            exit_code(ErrorKind::kRun));
  Store store = open_for_writing();
  EXPECT_EQ(store.runs(1).size(), 1U);
  store.add_run(run_record(1, 2));
  EXPECT_EQ(store.runs(1).size(), 2U);
}

}  // namespace
}  // namespace numabench
