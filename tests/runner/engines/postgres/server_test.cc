#include "runner/engines/postgres/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hosts/huge_pages.h"
#include "tests/hosts/error_of.h"
#include "tests/hosts/kernel_view.h"
#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ServerTest : public WithDataDirectory {
 protected:
  void TearDown() override { EXPECT_TRUE(has_no_children()) << "a server is left"; }
};

TEST_F(ServerTest, RunsAsItsUserAndIsReachedByItsSocketAlone) {
  Server server = Server::start(options());
  EXPECT_THAT(server.notes(), IsEmpty());
  EXPECT_THAT(status_value(server.pid(), "Uid"), HasSubstr(std::to_string(directory_->user().uid)));
  Connection connection = server.connect();
  EXPECT_EQ(connection.value("SHOW listen_addresses"), "");
  EXPECT_EQ(connection.value("SHOW shared_buffers"), "16MB");
  EXPECT_EQ(connection.value("SHOW data_directory"), data_);
  EXPECT_EQ(connection.value("SELECT current_user"), "postgres");
  EXPECT_LT(server.socket_directory().size(), 50u);
  const auto mode = std::filesystem::status(server.socket_directory()).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_all);
}

TEST_F(ServerTest, StopsAndLeavesNothingBehind) {
  Server server = Server::start(options());
  const pid_t pid = server.pid();
  const std::string sockets = server.socket_directory();
  EXPECT_NO_THROW(server.check_alive());
  server.stop();
  EXPECT_FALSE(is_running(pid));
  EXPECT_FALSE(std::filesystem::exists(data_ + "/postmaster.pid"));
  server.stop();  // and once more, which does nothing
  { const Server gone = std::move(server); }
  EXPECT_FALSE(std::filesystem::exists(sockets));
}

TEST_F(ServerTest, StopsWithClientsThatAreBusy) {
  Server server = Server::start(options());
  Connection connection = server.connect();
  server.stop();
  EXPECT_EQ(error_of([&] { connection.execute("SELECT 1"); }).kind(), ErrorKind::kRun);
}

TEST_F(ServerTest, IsPlaced) {
  ServerOptions placed = options();
  const IdSet allowed = *parse_id_list(status_value(::getpid(), "Cpus_allowed_list"));
  placed.placement.cpus = {*allowed.rbegin()};
  const Server server = Server::start(placed);
  EXPECT_EQ(status_value(server.pid(), "Cpus_allowed_list"), std::to_string(*allowed.rbegin()));
}

// What a caller asks for cannot open a server to the network or let it hide a crash.
TEST_F(ServerTest, KeepsItsOwnSettings) {
  ServerOptions own = options();
  own.settings["listen_addresses"] = "*";
  own.settings["restart_after_crash"] = "on";
  const Server server = Server::start(own);
  Connection connection = server.connect();
  EXPECT_EQ(connection.value("SHOW listen_addresses"), "");
  EXPECT_EQ(connection.value("SHOW restart_after_crash"), "off");
}

TEST_F(ServerTest, NamesTheSettingThatItDoesNotKnow) {
  ServerOptions wrong = options();
  wrong.settings["shared_bufers"] = "1GB";
  const Error error = error_of([&] { Server::start(wrong); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("shared_bufers"));
}

TEST_F(ServerTest, SaysWhichMemoryIsMissing) {
  const HugePageCounts pages = count_huge_pages();
  ServerOptions large = options();
  large.settings["huge_pages"] = "on";
  large.settings["shared_buffers"] =
      std::to_string((pages.available + 100) * std::max<std::size_t>(1, pages.page_bytes / 1024)) +
      "kB";
  const Error error = error_of([&] { Server::start(large); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("could not map anonymous shared memory"));
}

TEST_F(ServerTest, GivesTheLogOfAServerThatDied) {
  ServerOptions broken = options();
  broken.data_directory = directory_->own() + "/empty";
  std::filesystem::create_directory(broken.data_directory);
  ASSERT_EQ(::chown(broken.data_directory.c_str(), directory_->user().uid, directory_->user().gid),
            0);
  const Error error = error_of([&] { Server::start(broken); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("exit code"));
  EXPECT_THAT(error.what(), HasSubstr("postgresql.conf"));
}

// A stand-in for postgres that runs and never listens.
TEST_F(ServerTest, GivesUpOnAServerThatIsNeverReady) {
  const TemporaryDirectory scripts;
  std::filesystem::permissions(scripts.path(), std::filesystem::perms(0755));
  ServerOptions never = options();
  never.postgres = scripts.write("postgres",
                                 "#!/bin/sh\necho 'FATAL:  waiting for a miracle'\n"
                                 "exec sleep 1000\n");
  std::filesystem::permissions(never.postgres, std::filesystem::perms(0755));
  never.start_timeout = seconds(1);
  const Error error = error_of([&] { Server::start(never); });
  EXPECT_EQ(error.kind(), ErrorKind::kRun);
  EXPECT_THAT(error.what(), HasSubstr("more than 1 seconds"));
  EXPECT_THAT(error.what(), HasSubstr("waiting for a miracle"));
}

TEST_F(ServerTest, ACrashedBackendVoidsTheServer) {
  Server server = Server::start(options());
  {
    Connection victim = server.connect();
    ASSERT_EQ(::kill(victim.backend_pid(), SIGKILL), 0);
    EXPECT_TRUE(becomes_true([&] {
      try {
        server.check_alive();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kRun);
        EXPECT_THAT(error.what(), HasSubstr("was terminated by signal 9"));
        return true;
      }
      return false;
    }));
  }
  server.stop();
  EXPECT_THROW(server.check_alive(), Error) << "and it does not come back";
}

TEST_F(ServerTest, AKilledPostmasterIsNoticed) {
  Server server = Server::start(options());
  ::kill(server.pid(), SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !is_running(server.pid()); }));
  EXPECT_THAT(error_of([&] { server.check_alive(); }).what(), HasSubstr("signal 9"));
}

TEST_F(ServerTest, RemovesAStalePidFile) {
  std::ofstream(data_ + "/postmaster.pid") << "999999\n" << data_ << "\n";
  Server server = Server::start(options());
  EXPECT_THAT(server.notes(), ElementsAre(AllOf(HasSubstr("stale"), HasSubstr("999999"))));
  EXPECT_EQ(server.connect().value("SELECT 1"), "1");
}

// The pid of an earlier server, which somebody else has got since: this very process.
TEST_F(ServerTest, DoesNotEndAStrangerThatHasThePid) {
  std::ofstream(data_ + "/postmaster.pid") << ::getpid() << "\n" << data_ << "\n";
  Server server = Server::start(options());
  EXPECT_THAT(server.notes(), ElementsAre(HasSubstr("stale")));
}

TEST_F(ServerTest, EndsTheServerOfAnEarlierRun) {
  Server earlier = Server::start(options());
  Server server = Server::start(options());
  EXPECT_THAT(server.notes(), Contains(HasSubstr(std::to_string(earlier.pid()))));
  EXPECT_FALSE(is_running(earlier.pid()));
  EXPECT_EQ(server.connect().value("SELECT 1"), "1");
}

// "pre-existing shared memory block is still in use": a backend that cannot notice that its
// postmaster is gone.
TEST_F(ServerTest, EndsBackendsThatOutlivedTheirServer) {
  const Server earlier = Server::start(options());
  const Connection connection = earlier.connect();
  const pid_t backend = connection.backend_pid();
  ::kill(backend, SIGSTOP);
  ::kill(earlier.pid(), SIGKILL);
  ASSERT_TRUE(becomes_true([&] { return !is_running(earlier.pid()); }));
  Server server = Server::start(options());
  EXPECT_THAT(server.notes(), Contains(HasSubstr(std::to_string(backend))));
  EXPECT_TRUE(becomes_true([&] { return !is_running(backend); }));
  EXPECT_EQ(server.connect().value("SELECT 1"), "1");
}

// Killed, numabench cannot remove its sockets; the next one does, here or in another test.
TEST_F(ServerTest, RemovesTheSocketsOfAKilledProcess) {
  const TemporaryDirectory told;
  Worker killed = Worker::fork({}, [&] {
    const Server server = Server::start(options());
    told.write("sockets", server.socket_directory());
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  ASSERT_EQ(killed.wait(seconds(60)).signal, SIGKILL);
  std::string sockets;
  std::ifstream(told.path() + "/sockets") >> sockets;
  ASSERT_FALSE(sockets.empty());
  const Server server = Server::start(options());
  EXPECT_FALSE(std::filesystem::exists(sockets));
}

TEST_F(ServerTest, LeavesNoBackendOfAPostmasterThatWasKilled) {
  pid_t backend = 0;
  {
    const Server server = Server::start(options());
    const Connection connection = server.connect();
    backend = connection.backend_pid();
    ::kill(backend, SIGSTOP);
    ::kill(server.pid(), SIGKILL);
  }
  EXPECT_TRUE(becomes_true([&] { return !is_running(backend); }));
  EXPECT_FALSE(std::filesystem::exists(data_ + "/postmaster.pid"));
}

SettingRecord record_of(const std::vector<SettingRecord>& records, const std::string& name) {
  for (const SettingRecord& record : records) {
    if (record.name == name) return record;
  }
  return {};
}

TEST_F(ServerTest, RecordsWhatDiffersFromTheDefault) {
  ServerOptions own = options();
  own.settings["work_mem"] = "64MB";
  own.settings["checkpoint_timeout"] = "1h";
  own.settings["max_wal_size"] = "1GB";  // as the default is
  const Server server = Server::start(own);
  Connection connection = server.connect();
  const auto records = settings_not_default(connection);
  const SettingRecord work_mem = record_of(records, "work_mem");
  EXPECT_EQ(work_mem.value, "64MB");
  EXPECT_EQ(work_mem.default_value, "4MB");
  EXPECT_EQ(work_mem.source, "command line");
  EXPECT_EQ(record_of(records, "checkpoint_timeout").value, "1h");
  EXPECT_EQ(record_of(records, "checkpoint_timeout").default_value, "5min");
  EXPECT_EQ(record_of(records, "shared_buffers").default_value, "128MB");
  EXPECT_EQ(record_of(records, "fsync").value, "off");
  EXPECT_EQ(record_of(records, "max_wal_size").name, "") << "not different";
  EXPECT_EQ(record_of(records, "client_min_messages").name, "") << "of our own session";
}

TEST_F(ServerTest, FindsASettingThatADatabaseOverrides) {
  ServerOptions own = options();
  own.settings["work_mem"] = "64MB";
  own.settings["wal_buffers"] = "-1";
  const Server server = Server::start(own);
  {
    Connection connection = server.connect();
    EXPECT_EQ(settings_mismatch(connection, own.settings), "");
    connection.execute("ALTER DATABASE postgres SET work_mem = '1MB'");
  }
  Connection connection = server.connect();
  EXPECT_EQ(settings_mismatch(connection, own.settings),
            "work_mem is 1MB by 'database', not the 64MB asked for");
  connection.execute("ALTER DATABASE postgres RESET work_mem");
  EXPECT_THAT(settings_mismatch(connection, {{"no_such.setting", "1"}}), HasSubstr("not known"));
}

// The server's own arithmetic, once with twice the pool: the difference is 256 MiB.
TEST_F(ServerTest, SaysHowManyHugePagesItNeeds) {
  const HugePageCounts pages = count_huge_pages();
  if (pages.page_bytes == 0) GTEST_SKIP() << "a kernel without huge pages";
  ServerOptions own = options();
  own.settings["shared_buffers"] = "256MB";
  const auto small = huge_pages_needed(own);
  own.settings["shared_buffers"] = "512MB";
  const auto large = huge_pages_needed(own);
  ASSERT_TRUE(small && large);
  EXPECT_GE(*small, (256 << 20) / pages.page_bytes);
  // Descriptors and hash table of the buffers take a few percent more.
  EXPECT_GE(*large - *small, (256 << 20) / pages.page_bytes);
  EXPECT_LE(*large - *small, (280 << 20) / pages.page_bytes);
}

TEST_F(ServerTest, CannotSayHowManyHugePagesAWrongSettingNeeds) {
  ServerOptions own = options();
  own.settings["shared_buffers"] = "plenty";
  EXPECT_EQ(huge_pages_needed(own), std::nullopt);
}

TEST(HugePagesSetting, IsMadeDefinite) {
  const std::uint64_t available = count_huge_pages().available;
  EXPECT_EQ(definite_huge_pages("off", 0), "off");
  EXPECT_EQ(definite_huge_pages("try", available), "on");
  EXPECT_EQ(definite_huge_pages("try", available + 1), "off");
  EXPECT_EQ(definite_huge_pages("try", std::nullopt), "off");
  EXPECT_EQ(definite_huge_pages("on", available), "on");
}

TEST(HugePagesSetting, OfBoundMemoryCountsThoseOfItsNodes) {
  const IdSet nodes = Topology::of_this_host().allowed_nodes();
  const HugePageCounts pages = count_huge_pages();
  const std::uint64_t free =
      std::min(pages.available, free_huge_pages_of_node(*nodes.begin()).value_or(0));
  const IdSet first{*nodes.begin()};
  EXPECT_EQ(definite_huge_pages("try", free, first), "on");
  EXPECT_EQ(definite_huge_pages("try", free + 1, first), "off");
  const Error error = error_of([&] { definite_huge_pages("on", free + 7, first); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(), HasSubstr("are free on nodes " + format_id_list(first) + " where"));
  EXPECT_THAT(error.what(), HasSubstr("reserve 7 more there"));
}

TEST(HugePagesSetting, NamesTheCommandThatProvidesThem) {
  const HugePageCounts pages = count_huge_pages();
  const Error error = error_of([&] { definite_huge_pages("on", pages.available + 7); });
  EXPECT_EQ(error.kind(), ErrorKind::kPreflight);
  EXPECT_THAT(error.what(),
              HasSubstr("sysctl -w vm.nr_hugepages=" + std::to_string(pages.total + 7)));
  EXPECT_THAT(error.what(), HasSubstr(std::to_string(pages.available + 7)));
}

}  // namespace
}  // namespace numabench
