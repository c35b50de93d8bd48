// What a container without CAP_SYS_NICE does: NUMA looks available and the policy calls say EPERM.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>

#include "hosts/error.h"
#include "hosts/placement.h"
#include "hosts/process.h"
#include "hosts/shared_region.h"

namespace numabench {
namespace {

// From here on mbind and set_mempolicy fail with EPERM in this process.
bool forbid_policy_calls() {
  std::array<sock_filter, 5> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

constexpr int kNoSeccomp = 77;

// 0 if in the sandbox `call` fails as `kind` and names the capability.
int exit_in_sandbox(ErrorKind kind, const std::function<void()>& call) {
  Worker worker = Worker::fork({}, [&] {
    if (!forbid_policy_calls()) return kNoSeccomp;
    try {
      call();
    } catch (const Error& error) {
      const bool names_it = error.remedy().find("CAP_SYS_NICE") != std::string::npos;
      return error.kind() == kind && names_it ? 0 : 2;
    }
    return 1;
  });
  return worker.wait(std::chrono::seconds(60)).exit_code;
}

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    if (exit_in_sandbox(ErrorKind::kRun, [] {}) == kNoSeccomp) GTEST_SKIP() << "no seccomp";
  }
  const Topology topology_ = Topology::of_this_host();
  const Placement bound_{{}, MemoryPolicy::kBind, {*topology_.allowed_nodes().begin()}};
};

TEST_F(Sandbox, IsFoundOutAtPlanTime) {
  EXPECT_EQ(exit_in_sandbox(ErrorKind::kPreflight, [&] { check(bound_, topology_); }), 0);
}

TEST_F(Sandbox, DoesNotHinderFreePlacements) {
  EXPECT_EQ(exit_in_sandbox(ErrorKind::kPreflight, [&] { check({}, topology_); }), 1)
      << "1: nothing was thrown";
}

TEST_F(Sandbox, FailsTheWorkersPlacement) {
  EXPECT_EQ(exit_in_sandbox(ErrorKind::kRun, [&] { apply(bound_); }), 0);
}

TEST_F(Sandbox, FailsTheRegionsPolicy) {
  EXPECT_EQ(exit_in_sandbox(ErrorKind::kRun,
                            [&] {
                              SharedRegion region(1 << 20, SharedRegion::HugePages::kOff);
                              region.set_policy(0, region.size(), MemoryPolicy::kBind,
                                                bound_.memory_nodes);
                            }),
            0);
}

}  // namespace
}  // namespace numabench
