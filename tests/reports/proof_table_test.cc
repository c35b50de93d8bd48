#include "reports/proof_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/error.h"
#include "tests/reports/store_fixture.h"

namespace numabench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run with proofs, and the table of it.
class ProofTable : public test::StoreFolder {
 protected:
  ProofTable() {
    cells_ = test::add_cells(store_, {"stock", "numa-only"}, {"g"});
    run_ = test::run_record(cells_[0].id, 1);
  }

  std::string table() {
    store_.add_run(run_);
    return format_placement_proofs(store_, 1, {});
  }

  Store store_ = open_for_writing();
  std::vector<CellRecord> cells_;
  RunRecord run_;
};

TEST_F(ProofTable, GathersProcessesThatWereSeenAlike) {
  for (int i = 0; i < 3; ++i) {
    run_.placement_proofs.push_back(
        {"clients", 100 + i, "cpus 0-3, bind 0", "cpus 0-3, bind:0", "", 10 + i, 5});
  }
  EXPECT_THAT(table(), HasSubstr("  role     processes  expected          observed          looks  "
                                 "CPU migrations\n"
                                 "  clients          3  cpus 0-3, bind 0  cpus 0-3, bind:0     12  "
                                 "            15\n"));
}

TEST_F(ProofTable, GathersProcessesWithACpuEach) {
  for (int i = 0; i < 4; ++i) {
    const std::string cpus = "cpus " + std::to_string(2 * i);
    run_.placement_proofs.push_back(
        {"clients", 100 + i, cpus + ", local", cpus + ", local", "", 1, 0});
  }
  EXPECT_THAT(table(),
              HasSubstr("4  cpus 0,2,4,6 (one each), local  cpus 0,2,4,6 (one each), local"));
}

TEST_F(ProofTable, AProcessThatWasElsewhereHasARowOfItsOwn) {
  run_.placement_proofs = {
      {"clients", 1, "cpus 0", "cpus 0", "", 9, 0},
      {"clients", 2, "cpus 1", "cpus 0-1", "runs on CPUs 0-1 instead of 1", 9, 3}};
  run_.status = RunStatus::kVoid;
  run_.reason = "placement escaped";
  EXPECT_THAT(table(), AllOf(HasSubstr(" · void: placement escaped\n"),
                             HasSubstr("1  cpus 0    cpus 0        9"),
                             HasSubstr("ELSEWHERE: runs on CPUs 0-1 instead of 1\n")));
}

TEST_F(ProofTable, SaysWhereThePoolLay) {
  run_.placement_proofs = {{"server", 1, "free", "cpus 0-3, default", "", 2, 1}};
  run_.pool_memory = {{PoolMemoryRecord::Moment::kBefore, 0, 4096, 131'072},
                      {PoolMemoryRecord::Moment::kAfter, 0, 4096, 131'072},
                      {PoolMemoryRecord::Moment::kAfter, 1, 2'097'152, 256}};
  EXPECT_THAT(table(),
              HasSubstr("  pool before the window: node 0 512 MiB in 131,072 pages of 4 KiB\n"
                        "  pool after the window: node 0 512 MiB in 131,072 pages of 4 KiB, node 1 "
                        "512 MiB in 256 pages of 2 MiB\n"));
}

TEST_F(ProofTable, SaysWhatIsNotKnown) {
  run_.placement_proofs = {{"server", 1, "free", "cpus 0-3", "", 2, {}, "no /proc/PID/sched"}};
  EXPECT_THAT(table(), AllOf(HasSubstr("pool after the window: not known"),
                             HasSubstr("– CPU migrations: no /proc/PID/sched\n")));
}

TEST_F(ProofTable, HasTheWantedCellsOnly) {
  store_.add_run(run_);
  const auto wanted = [](const CellRecord& cell) { return cell.arm == "numa-only"; };
  EXPECT_THAT(format_placement_proofs(store_, 1, wanted), Not(HasSubstr("stock")));
  EXPECT_THAT(format_placement_proofs(store_, 1, {}), HasSubstr("no process was looked at"));
}

TEST_F(ProofTable, OfAnExperimentThatIsNotThereIsRefused) {
  EXPECT_THROW(format_placement_proofs(store_, 7, {}), Error);
}

}  // namespace
}  // namespace numabench
