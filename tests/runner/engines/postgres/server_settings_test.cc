#include "runner/engines/postgres/server_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace numabench {
namespace {

using ::testing::HasSubstr;

class ServerSettings : public ::testing::Test {
 protected:
  ServerSettings() {
    experiment.placements = {{"free", {}, {}}};
    sql.roles.resize(2);
    sql.roles[0].clients = 24;
    sql.roles[1].clients = 2;
  }

  CellSetup setup() const {
    return {experiment, host, arm, *workload, experiment.placements[0], {1024, 1.15}, 8 << 20, 24};
  }
  std::map<std::string, std::string> settings() const { return server_settings(setup(), sql); }
  std::string refusal() const { return settings_refusal(setup(), sql); }

  Experiment experiment;
  Host host{"local", Topology::of_synthetic("pack:1 core:2 pu:1"), {}};
  Arm arm;
  std::unique_ptr<Workload> workload = make_workload("zipfian", {});
  SqlWorkload sql;
};

TEST_F(ServerSettings, HaveThePoolAndRoomForAllClients) {
  EXPECT_EQ(settings()["shared_buffers"], "8192kB");
  EXPECT_EQ(settings()["max_connections"], "33");  // 26 clients, 4 of ours, 3 reserved
}

TEST_F(ServerSettings, LetTheArmWinOverTheExperiment) {
  experiment.settings = {{"work_mem", "64MB"}, {"io_method", "sync"}};
  arm.settings = {{"io_method", "io_uring"}};
  EXPECT_EQ(settings()["work_mem"], "64MB");
  EXPECT_EQ(settings()["io_method"], "io_uring");
}

TEST_F(ServerSettings, KeepAutovacuumAwayOnlyWhereNobodyWrites) {
  EXPECT_EQ(settings()["autovacuum"], "off");
  experiment.settings = {{"autovacuum", "on"}};
  EXPECT_EQ(settings()["autovacuum"], "on");
  experiment.settings.clear();
  sql.writes = true;
  EXPECT_FALSE(settings().contains("autovacuum"));
}

TEST_F(ServerSettings, AreRefusedWhereNumabenchDecides) {
  arm.settings = {{"shared_buffers", "1GB"}};
  EXPECT_EQ(refusal(), "the setting shared_buffers is decided by the factor `pools`");
}

TEST_F(ServerSettings, AreRefusedWhenTheClientsWouldNotFit) {
  experiment.settings = {{"max_connections", "32"}};
  EXPECT_EQ(refusal(), "max_connections is 32, the cell needs 33");
  experiment.settings = {{"max_connections", "33"}};
  EXPECT_EQ(refusal(), "");
  experiment.settings = {{"max_connections", "33.5"}};
  EXPECT_THAT(refusal(), HasSubstr("is no number"));
}

}  // namespace
}  // namespace numabench
