#include "hosts/providers/provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hosts/error_of.h"

namespace numabench {
namespace {

TEST(HostProvider, LocalIsThisMachine) {
  const auto provider = make_host_provider("local");
  const Host host = provider->acquire();
  EXPECT_EQ(host.provider, "local");
  EXPECT_TRUE(host.topology.is_this_host());
  EXPECT_EQ(host.snapshot.hostname, take_snapshot().hostname);
  provider->release(host);
}

TEST(HostProvider, EachIsMadeUnderItsName) {
  EXPECT_THAT(host_provider_names(), ::testing::Contains("local"));
  for (const std::string& name : host_provider_names()) {
    EXPECT_EQ(make_host_provider(name)->name(), name);
  }
}

TEST(HostProvider, ThatIsUnknownNeverFallsThroughToAnother) {
  const Error error = error_of([] { make_host_provider("locl"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(), "there is no host provider 'locl'; did you mean 'local'?");
}

}  // namespace
}  // namespace numabench
