#include "reports/probe_store.h"

#include <gtest/gtest.h>

#include "reports/store.h"
#include "tests/hosts/temporary_directory.h"

namespace numabench {
namespace {

TEST(ProbeStore, KeepsWhatWasProbedOfAHost) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/probe.db";
  Store store = Store::open(path, Store::Mode::kReadWrite);
  const std::int64_t host = store.add_host({"db1", "{}", ""});
  const std::int64_t other = store.add_host({"db2", "{}", ""});
  add_probes(path, host, "2026-12-01T00:00:00Z",
             {{"load latency", "ns", "node 0", "node 1", 141.5, ""},
              {"hand-over", "ns", "node 0", "node 0", std::nullopt, "one CPU only"}});
  const std::vector<ProbeRecord> probes = read_probes(path, host);
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0].name, "load latency");
  EXPECT_EQ(probes[0].to_part, "node 1");
  EXPECT_EQ(probes[0].value, 141.5);
  EXPECT_FALSE(probes[1].value);
  EXPECT_EQ(probes[1].reason, "one CPU only");
  EXPECT_TRUE(read_probes(path, other).empty());
}

}  // namespace
}  // namespace numabench
