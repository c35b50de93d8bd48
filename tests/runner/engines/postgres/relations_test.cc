// Tables' relations held to the files on disk, and the pool's contents to pg_buffercache.
#include "runner/engines/postgres/relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "runner/engines/postgres/pool_fill.h"
#include "tests/runner/engines/postgres/installed_server.h"

namespace numabench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RelationsTest : public WithDataDirectory {
 protected:
  static void SetUpTestSuite() {
    WithDataDirectory::SetUpTestSuite();
    const Server server = Server::start(options());
    Connection connection = server.connect();
    for (const char* statement : {
             "CREATE EXTENSION pg_prewarm",
             "CREATE EXTENSION pg_buffercache",
             "CREATE TABLE \"Plain table\" AS SELECT generate_series(1, 20000) AS id",
             "CREATE INDEX plain_by_id ON \"Plain table\" (id)",
             "CREATE INDEX plain_by_minus_id ON \"Plain table\" ((-id))",
             "CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id)",
             "CREATE TABLE low PARTITION OF parted FOR VALUES FROM (1) TO (5001)",
             "CREATE TABLE high PARTITION OF parted FOR VALUES FROM (5001) TO (20001) "
             "PARTITION BY RANGE (id)",
             "CREATE TABLE high_low PARTITION OF high FOR VALUES FROM (5001) TO (10001)",
             "CREATE TABLE high_high PARTITION OF high FOR VALUES FROM (10001) TO (20001)",
             "INSERT INTO parted SELECT generate_series(1, 20000)",
             "CREATE TABLE leafless (id int PRIMARY KEY) PARTITION BY RANGE (id)",
             "CREATE SCHEMA elsewhere CREATE TABLE hidden (id int)",
             "CHECKPOINT",
         }) {
      connection.execute(statement);
    }
  }

  void SetUp() override {
    server_.emplace(Server::start(options()));
    connection_.emplace(server_->connect());
  }

  std::string value(const std::string& sql, const std::vector<std::string>& parameters = {}) {
    return connection_->value(sql, parameters).value();
  }
  std::vector<std::string> names(const std::vector<StoredRelation>& relations) {
    std::vector<std::string> found;
    for (const StoredRelation& relation : relations) {
      found.push_back(value("SELECT relname FROM pg_class WHERE oid = $1::oid", {relation.oid}));
    }
    return found;
  }
  std::uint64_t file_bytes(const StoredRelation& relation) {
    return fs::file_size(data_ + "/" +
                         value("SELECT pg_relation_filepath($1::oid)", {relation.oid}));
  }
  /// Pages of the relation's main fork in the pool.
  int pooled(const std::string& name) {
    return std::stoi(
        value("SELECT count(*) FROM pg_buffercache WHERE relforknumber = 0 AND reldatabase = "
              "(SELECT oid FROM pg_database WHERE datname = current_database()) AND "
              "relfilenode = pg_relation_filenode($1)",
              {name}));
  }
  int pages(const std::string& name) {
    return std::stoi(value("SELECT pg_relation_size($1) / 8192", {name}));
  }

  std::optional<Server> server_;
  std::optional<Connection> connection_;
};

TEST_F(RelationsTest, AreThePlainTableAndItsIndexes) {
  const TableRelations plain = relations_of_tables(*connection_).at("Plain table");
  EXPECT_THAT(names(plain.heaps), ElementsAre("Plain table"));
  EXPECT_THAT(names(plain.indexes), ElementsAre("plain_by_id", "plain_by_minus_id"));
}

TEST_F(RelationsTest, AreTheLeavesOfAPartitionTreeAndTheirIndexes) {
  const auto tables = relations_of_tables(*connection_);
  EXPECT_THAT(names(tables.at("parted").heaps), ElementsAre("low", "high_low", "high_high"));
  EXPECT_THAT(names(tables.at("parted").indexes),
              ElementsAre("low_pkey", "high_low_pkey", "high_high_pkey"));
  EXPECT_THAT(names(tables.at("high").heaps), ElementsAre("high_low", "high_high"));
  EXPECT_THAT(names(tables.at("low").heaps), ElementsAre("low"));
  EXPECT_THAT(names(tables.at("low").indexes), ElementsAre("low_pkey"));
}

TEST_F(RelationsTest, AreNoneOfATableWithoutPartitionsAndOfOtherSchemas) {
  const auto tables = relations_of_tables(*connection_);
  EXPECT_THAT(tables.at("leafless").heaps, IsEmpty());
  EXPECT_THAT(tables.at("leafless").indexes, IsEmpty());
  EXPECT_EQ(tables.at("leafless").bytes(), 0u);
  EXPECT_FALSE(tables.contains("hidden"));
}

TEST_F(RelationsTest, HaveTheSizesOfTheFiles) {
  const auto tables = relations_of_tables(*connection_);
  for (const char* name : {"Plain table", "parted"}) {
    std::uint64_t bytes = 0;
    for (const auto* kind : {&tables.at(name).heaps, &tables.at(name).indexes}) {
      for (const StoredRelation& relation : *kind) {
        EXPECT_EQ(relation.bytes, file_bytes(relation)) << name;
        EXPECT_EQ(relation.pages * 8192, relation.bytes) << name;
        bytes += file_bytes(relation);
      }
    }
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(tables.at(name).bytes(), bytes);
  }
}

TEST_F(RelationsTest, FillThePoolIndexesFirstUpToItsSize) {
  const int indexes = pages("low_pkey") + pages("high_low_pkey") + pages("high_high_pkey");
  const auto room = static_cast<std::uint64_t>(indexes + pages("low") + 1);
  fill_pool(*connection_, {"parted"}, FillOrder::kIndexThenHeap, room);
  for (const char* whole : {"low_pkey", "high_low_pkey", "high_high_pkey", "low"}) {
    EXPECT_EQ(pooled(whole), pages(whole)) << whole;
  }
  EXPECT_EQ(pooled("high_low"), 1);
  EXPECT_EQ(pooled("high_high"), 0);
}

TEST_F(RelationsTest, FillThePoolHeapsFirstTableAfterTable) {
  const auto room = static_cast<std::uint64_t>(pages("\"Plain table\"") + 1);
  fill_pool(*connection_, {"Plain table", "parted"}, FillOrder::kHeapFirst, room);
  EXPECT_EQ(pooled("\"Plain table\""), pages("\"Plain table\""));
  EXPECT_EQ(pooled("low"), 1);
  EXPECT_EQ(pooled("high_low"), 0);
  EXPECT_EQ(pooled("plain_by_id"), 0);
}

}  // namespace
}  // namespace numabench
