// pgbench as it runs here, against a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <numeric>
#include <regex>
#include <thread>

#include "runner/engines/postgres/pgbench.h"
#include "tests/hosts/error_of.h"
#include "tests/runner/engines/postgres/installed_server.h"
#include "tests/workloads/chi_square.h"
#include "workloads/scripts/scripts.h"

namespace numabench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::Optional;

constexpr double kForever = 3600;

/// True as soon as `condition` holds; false when it does not within a minute.
bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return true;
}

class PgbenchRunTest : public WithDataDirectory {
 protected:
  void SetUp() override {
    server_.emplace(Server::start(options()));
    connection_.emplace(server_->connect());
    target_.program = kInstalledBindir + "/pgbench";
    target_.socket_directory = server_->socket_directory();
    target_.port = server_->port();
  }

  static SqlRole role(const std::string& script, int clients = 2) {
    SqlRole role;
    role.name = "clients";
    role.clients = clients;
    role.scripts = {{.name = "test.pgb", .text = script}};
    return role;
  }

  /// In a directory of its own, with all transactions logged unless `options` say otherwise.
  PgbenchRun start(const SqlRole& role, PgbenchOptions options = {.log_sampling = 1},
                   std::uint64_t seed = 17, PgbenchTelling telling = {.progress = true}) {
    const std::string path = directory_->own() + "/clients-" + std::to_string(++started_);
    std::filesystem::create_directory(path);
    EXPECT_EQ(::chown(path.c_str(), directory_->user().uid, directory_->user().gid), 0);
    return PgbenchRun(target_, options, role, telling, {}, directory_->user(), kForever, seed,
                      path);
  }

  PgbenchRun::Result run_to_its_end(const SqlRole& role, std::uint64_t seed = 17) {
    PgbenchRun run = start(role, {.log_sampling = 1}, seed);
    EXPECT_TRUE(comes_true([&] {
      run.check_alive();
      return run.has_finished();
    }));
    run.end();
    return run.result();
  }

  std::string value(const std::string& sql) { return connection_->value(sql).value_or("NULL"); }

  static int started_;
  std::optional<Server> server_;
  std::optional<Connection> connection_;
  PgbenchTarget target_;
};

int PgbenchRunTest::started_ = 0;

TEST_F(PgbenchRunTest, CountsWhatTheServerDidUntilItWasToldToEnd) {
  connection_->execute("CREATE TABLE done (client int)");
  PgbenchRun run = start(role("INSERT INTO done VALUES (:client_id);\n"));
  EXPECT_TRUE(comes_true([&] { return run.transactions().value_or(0) > 0; }));
  std::this_thread::sleep_for(seconds(2));  // whole seconds, however late the first one began
  run.check_alive();
  EXPECT_FALSE(run.has_finished());
  run.end();
  const PgbenchRun::Result result = run.result();
  const std::string rows = value("SELECT count(*) FROM done");
  EXPECT_EQ(std::to_string(result.summary.transactions.value_or(0)), rows);
  EXPECT_EQ(std::to_string(result.log.latency->logged), rows);
  EXPECT_EQ(value("SELECT count(DISTINCT client) FROM done"), "2");
  std::smatch line;
  ASSERT_TRUE(std::regex_search(result.report, line, std::regex("\ntps = ([0-9.]+) \\(without")));
  EXPECT_THAT(result.summary.tps, Optional(std::stod(line[1])));
  EXPECT_GT(result.cpu_seconds, 0);
  EXPECT_GE(result.log.latency->max_us, result.log.latency->p50_us);
  // pgbench's own deviation, in its rounding to microseconds.
  EXPECT_NEAR(result.log.latency->stddev_us, 1000 * result.summary.latency_stddev_ms.value_or(0),
              1);
  const std::vector<double>& seconds = result.log.per_second;
  EXPECT_THAT(seconds, Not(IsEmpty()));
  EXPECT_LE(std::accumulate(seconds.begin(), seconds.end(), 0.0), std::stod(rows));
}

TEST_F(PgbenchRunTest, TellsOfAWindowByALogOfAShareAndByNothingElse) {
  PgbenchRun run = start(role("SELECT 1;\n"), {.log_sampling = 0.25}, 17, {});
  EXPECT_THAT(run.arguments(), Not(Contains("-P")));  // it would cost some of the tps
  std::this_thread::sleep_for(seconds(2));
  EXPECT_EQ(run.transactions(), std::nullopt);
  run.end();
  const PgbenchRun::Result result = run.result();
  const auto all = static_cast<double>(result.summary.transactions.value_or(0));
  ASSERT_GT(all, 0);
  // Six standard deviations of a binomial count.
  EXPECT_NEAR(static_cast<double>(result.log.latency->logged), all / 4,
              6 * std::sqrt(all * 0.25 * 0.75));
}

TEST_F(PgbenchRunTest, EndsByItselfAfterItsTransactions) {
  SqlRole few = role("SELECT 1;\n", 3);
  few.transactions = 7;
  EXPECT_THAT(run_to_its_end(few).summary.transactions, Optional(21u));
}

TEST_F(PgbenchRunTest, FailsWithPgbenchsWordsWhenAClientIsAborted) {
  PgbenchRun run = start(role("SELECT pg_sleep(0.01);\n", 3));
  // The connection that pgbench makes first is not a client's.
  EXPECT_TRUE(comes_true([&] { return run.transactions().value_or(0) > 0; }));
  EXPECT_TRUE(comes_true([&] {
    return value(
               "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity "
               "WHERE application_name = 'pgbench' LIMIT 1) AS one") == "1";
  }));
  std::string words;
  EXPECT_TRUE(comes_true([&] {
    try {
      run.check_alive();
      return false;
    } catch (const Error& error) {
      words = error.what();
      return error.kind() == ErrorKind::kRun;
    }
  }));
  EXPECT_THAT(words,
              AllOf(HasSubstr("pgbench of the clients"), HasSubstr("administrator command")));
  run.end();
  EXPECT_THAT(error_of([&] { run.result(); }).what(), HasSubstr("administrator command"));
}

TEST_F(PgbenchRunTest, FailsWithTheServersWordsWhenThereAreTooManyClients) {
  PgbenchRun run = start(role("SELECT 1;\n", 150));  // max_connections is 100
  std::string words;
  EXPECT_TRUE(comes_true([&] {
    try {
      run.check_alive();
    } catch (const Error& error) {
      words = error.what();
    }
    return !words.empty();
  }));
  EXPECT_THAT(words, HasSubstr("too many clients"));
}

TEST_F(PgbenchRunTest, FailsWhenItWasKilledOrEndedTooEarly) {
  PgbenchRun killed = start(role("SELECT 1;\n"));
  ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
  killed.end();
  EXPECT_THAT(error_of([&] { killed.result(); }).what(), HasSubstr("pgbench of the clients"));

  PgbenchRun ended = start(role("SELECT 1;\n"));
  EXPECT_TRUE(comes_true([&] { return ended.transactions().value_or(0) > 0; }));
  ASSERT_EQ(::kill(ended.pid(), SIGALRM), 0);
  std::string words;
  EXPECT_TRUE(comes_true([&] {
    try {
      ended.check_alive();
    } catch (const Error& error) {
      words = error.what();
    }
    return !words.empty();
  }));
  EXPECT_THAT(words, HasSubstr("before it was told to"));
}

TEST_F(PgbenchRunTest, DoesNotWaitForWorkThatWillNotBeDoneInTime) {
  SqlRole slow = role("SELECT pg_sleep(600);\n", 1);
  slow.transactions = 1;
  PgbenchRun run = start(slow);
  EXPECT_FALSE(run.has_finished());
  run.end();
  EXPECT_THAT(error_of([&] { run.result(); }).what(), HasSubstr("all their transactions"));
}

TEST_F(PgbenchRunTest, GivesSessionsTheirSettingsAsWritten) {
  connection_->execute("CREATE TABLE seen (value text)");
  SqlRole with_settings =
      role("INSERT INTO seen VALUES (current_setting('numabench.value'));\n", 1);
  with_settings.transactions = 1;
  with_settings.settings = {{"enable_seqscan", "off"}, {"numabench.value", "one  two\\three"}};
  run_to_its_end(with_settings);
  EXPECT_EQ(value("SELECT value FROM seen"), "one  two\\three");
}

TEST_F(PgbenchRunTest, IsAskedForWhatTheRoleAndTheExperimentSay) {
  SqlRole scanners = role("SELECT 1;\n", 2);
  scanners.kind = Role::Kind::kScan;
  scanners.variables = {{"rows", "100"}};
  const PgbenchOptions options{
      .protocol = PgbenchOptions::Protocol::kSimple, .jobs = 8, .rate = 50, .log_sampling = 0.05};
  const PgbenchRun scans = start(scanners, options, 18446744073709551615u);
  const std::vector<std::string>& arguments = scans.arguments();
  const auto after = [&](const std::string& option) {
    const auto found = std::find(arguments.begin(), arguments.end(), option);
    return found == arguments.end() ? "" : *(found + 1);
  };
  EXPECT_EQ(after("-M"), "simple");
  EXPECT_EQ(after("-c"), "2");
  EXPECT_EQ(after("-j"), "2");
  EXPECT_EQ(after("-T"), "3600");
  EXPECT_EQ(after("-D"), "rows=100");
  EXPECT_EQ(after("--random-seed"), "18446744073709551615");
  EXPECT_THAT(arguments, Contains("-l"));
  // The rate and the sampling of the experiment are of the point clients.
  EXPECT_THAT(arguments, Not(Contains("-R")));
  EXPECT_THAT(arguments, Not(Contains(HasSubstr("--sampling-rate"))));
  EXPECT_THAT(arguments, Contains("-P"));
  const PgbenchRun points = start(role("SELECT 1;\n"), options);
  EXPECT_THAT(points.arguments(), AllOf(Contains("-R"), Contains("50")));
  EXPECT_THAT(points.arguments(), Contains("--sampling-rate=0.05"));
}

TEST_F(PgbenchRunTest, SchedulesTransactionsOfARoleWithARate) {
  SqlRole scanners = role("SELECT 1;\n", 1);
  scanners.rate = 1000;
  scanners.transactions = 20;
  EXPECT_THAT(run_to_its_end(scanners).report, HasSubstr("rate limit schedule lag"));
}

TEST_F(PgbenchRunTest, AsksForAsManyBuffersAsTheWorkloadSays) {
  connection_->execute(
      "CREATE TABLE pgbench_accounts (aid int NOT NULL, bid int, abalance int, filler char(84))");
  connection_->execute(
      "INSERT INTO pgbench_accounts SELECT aid, 1, 0, '' FROM generate_series(1, 61000) AS aid");
  connection_->execute("ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)");
  connection_->execute("VACUUM ANALYZE pgbench_accounts");
  const auto buffers = [&] {
    return std::stoull(
        value("SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + "
              "idx_blks_read)::text FROM pg_statio_user_tables "
              "WHERE relname = 'pgbench_accounts'"));
  };
  const WorkloadSize size{.pool_pages = 1000, .ratio = 1};
  const auto workload = make_workload("uniform", {{"ratio_of", "heap"}});
  SqlRole points = workload->sql(size, 2).roles[0];
  EXPECT_EQ(points.variables.at("rows"), "61000");
  connection_.emplace(server_->connect());  // the other's statistics are there at its end
  const std::uint64_t before = buffers();
  points.transactions = 2000;
  run_to_its_end(points);
  const auto expected = static_cast<double>(4000 * points.pages_per_transaction);
  EXPECT_TRUE(comes_true([&] { return static_cast<double>(buffers() - before) >= expected; }));
  EXPECT_NEAR(static_cast<double>(buffers() - before), expected, 0.005 * expected);
}

TEST_F(PgbenchRunTest, PrewarmsEachClientsRelation) {
  connection_->execute("CREATE EXTENSION pg_prewarm");
  connection_->execute("CREATE EXTENSION pg_buffercache");
  for (int table = 1; table <= 3; table++) {
    const std::string name = "table_" + std::to_string(table);
    connection_->execute("CREATE TABLE " + name +
                         " AS SELECT i, repeat('x', 1000) FROM generate_series(1, 70) AS i");
  }
  connection_.reset();
  server_->stop();
  server_.reset();
  SetUp();  // with an empty pool
  const auto cached = [&](const std::string& table) {
    return value(
        "SELECT count(*) FROM pg_buffercache WHERE relforknumber = 0 AND relfilenode = "
        "pg_relation_filenode('" +
        table + "')");
  };
  SqlRole prewarmers = role("", 2);
  prewarmers.scripts = {pgbench_script_for("prewarm", {"table_1", "table_2", "table_3"})};
  prewarmers.transactions = 1;
  EXPECT_EQ(cached("table_1"), "0");
  run_to_its_end(prewarmers);
  EXPECT_EQ(cached("table_1"), "10");  // seven rows of a kilobyte a page
  EXPECT_EQ(cached("table_2"), "10");
  EXPECT_EQ(cached("table_3"), "0");
}

/// What a workload's script draws, one after the other, in the place of its query.
class DrawnRows : public PgbenchRunTest {
 protected:
  static constexpr int kRows = 500;
  static constexpr int kDraws = 20'000;
  static constexpr int kDrawsPerQuery = 50;

  /// The \set lines of the workload's script many times, and one INSERT of what they draw.
  static std::string drawing(const std::string& script, const std::string& drawn) {
    const std::string lines = script.substr(0, script.find("SELECT"));
    std::string all;
    std::string values;
    for (int i = 0; i < kDrawsPerQuery; i++) {
      const std::string number = std::to_string(i);
      all += std::regex_replace(lines.substr(lines.find("\\set")),
                                std::regex("(\\\\set |:)(r|aid)\\b"), "$1$2_" + number);
      values += (i == 0 ? "(" : ", (") +
                std::regex_replace(drawn, std::regex("(:r|:aid)\\b"), "$1_" + number) + ")";
    }
    return all + "INSERT INTO drawn VALUES " + values + ";\n";
  }

  void draw(const Workload& workload, const std::string& drawn, std::uint64_t seed) {
    SqlRole points = workload.sql({.pool_pages = 100, .ratio = 1}, 2).roles[0];
    points.variables["rows"] = std::to_string(kRows);
    points.scripts[0].text = drawing(points.scripts[0].text, drawn);
    points.transactions = kDraws / kDrawsPerQuery / points.clients;
    run_to_its_end(points, seed);
  }
};

TEST_F(DrawnRows, OfZipfianHaveItsProbabilities) {
  connection_->execute("CREATE TABLE drawn (rank int)");
  draw(*make_workload("zipfian", {{"permute", "false"}, {"s", "1.1"}}), ":aid", 17);
  std::vector<Bin> bins(kRows);
  double sum = 0;
  for (int rank = 1; rank <= kRows; rank++) sum += std::pow(rank, -1.1);
  for (int rank = 1; rank <= kRows; rank++) {
    bins[static_cast<std::size_t>(rank) - 1].probability = std::pow(rank, -1.1) / sum;
  }
  for (const auto& row : connection_->query("SELECT rank - 1, count(*) FROM drawn GROUP BY 1")) {
    bins.at(std::stoul(row[0].value())).observed = std::stoull(row[1].value());
  }
  EXPECT_EQ(value("SELECT count(*) FROM drawn"), std::to_string(kDraws));
  EXPECT_GT(chi_square_p(bins, kDraws), 1e-6);
}

TEST_F(DrawnRows, OfThePermutedScriptAreTheSameForARankInEveryProcess) {
  connection_->execute("DROP TABLE IF EXISTS drawn; CREATE TABLE drawn (rank int, aid int)");
  const auto workload = make_workload("zipfian", {{"s", "1.1"}});
  draw(*workload, ":r, :aid", 17);
  draw(*workload, ":r, :aid", ~std::uint64_t{17});
  const std::string ranks = value("SELECT count(DISTINCT rank) FROM drawn");
  EXPECT_GT(std::stoi(ranks), kRows / 2);
  EXPECT_EQ(value("SELECT count(DISTINCT aid) FROM drawn"), ranks);
  EXPECT_EQ(value("SELECT count(DISTINCT (rank, aid)) FROM drawn"), ranks);
  EXPECT_EQ(value("SELECT min(aid) >= 1 AND max(aid) <= " + std::to_string(kRows) + " FROM drawn"),
            "t");
  // Scattered: of the 50 most popular rows a few lie among the first 50, not most.
  EXPECT_LT(
      std::stoi(value("SELECT count(DISTINCT aid) FROM drawn WHERE rank <= 50 AND aid <= 50")), 20);
}

TEST(LoggedShare, CostsEachThreadTheSame) {
  SqlRole points;
  const auto share = [&](int threads, double tps) {
    return logged_share({}, points, threads, tps);
  };
  EXPECT_EQ(share(2, 50'000), 1.0 / 32);  // 1,563 of the 2,500 lines a second that two may write
  EXPECT_EQ(share(2, 40'000), 1.0 / 16);  // all of them
  EXPECT_EQ(share(2, 39'000), 1.0 / 16);
  EXPECT_EQ(share(2, 800), 1);
  EXPECT_EQ(share(64, 1'000'000), 1.0 / 64);  // 20,000 are the most
  EXPECT_EQ(logged_share({}, points, 2, std::nullopt), 1.0 / 16);
}

TEST(LoggedShare, IsWhatTheExperimentSaysOfManyTransactions) {
  SqlRole role;
  EXPECT_EQ(logged_share({.log_sampling = 0.05}, role, 2, 50'000), 0.05);
  role.transactions = 3;
  EXPECT_EQ(logged_share({.log_sampling = 0.05}, role, 2, 50'000), 1);
  role.transactions = 0;
  role.kind = Role::Kind::kScan;
  EXPECT_EQ(logged_share({.log_sampling = 0.05}, role, 2, 50'000), 1);
}

TEST(PgbenchProgram, IsIdentified) {
  const std::string program = kInstalledBindir + "/pgbench";
  EXPECT_EQ(pgbench_major_version(program, ""), 15);
  const std::string digest = run_command({"sha256sum", program}).out.substr(0, 64);
  EXPECT_THAT(pgbench_identity(program, ""),
              AllOf(MatchesRegex("pgbench \\(PostgreSQL\\) 15\\..*"), HasSubstr(digest)));
  EXPECT_EQ(error_of([] { pgbench_major_version("/bin/true", ""); }).kind(), ErrorKind::kPreflight);
}

TEST(PgbenchProgram, IsRefusedForScriptsItDoesNotKnow) {
  const WorkloadSize size{.pool_pages = 1000, .ratio = 1};
  const SqlWorkload permuted = make_workload("zipfian", {})->sql(size, 1);
  const SqlWorkload ordered = make_workload("zipfian", {{"permute", "false"}})->sql(size, 1);
  EXPECT_THAT(pgbench_refuses(13, permuted), AllOf(HasSubstr("permute()"), HasSubstr("14")));
  EXPECT_EQ(pgbench_refuses(13, ordered), "");
  EXPECT_EQ(pgbench_refuses(14, permuted), "");
  EXPECT_THAT(pgbench_refuses(12, ordered), HasSubstr("12"));
}

}  // namespace
}  // namespace numabench
