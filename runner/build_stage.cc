#include "runner/build_stage.h"

#include <fmt/format.h>

#include <cstdio>

#include "hosts/error.h"
#include "hosts/units.h"
#include "runner/interrupt.h"
#include "runner/progress.h"

namespace numabench {
namespace {

std::string outcome(const ArmBuild& build) {
  if (!build.failure.empty()) return "FAILED: " + build.failure;
  if (build.inputs.source.starts_with("bindir")) return "installed: " + build.version;
  if (build.reused) return "built before: " + build.version;
  return fmt::format("built in {}: {}", format_duration(build.build_seconds), build.version);
}

}  // namespace

std::vector<ArmBuild> build_arms(Engine& engine, const Experiment& experiment,
                                 const std::vector<Arm>& arms) {
  StageLines lines(stderr, TerminalStyle::of(stderr));
  const InterruptGuard guard;
  const std::vector<ArmBuild> builds =
      engine.build_arms(experiment, arms, [&](const std::string& arm, const std::string& stage) {
        if (InterruptGuard::interrupted()) throw Error(ErrorKind::kInterrupted, "interrupted");
        lines.show("arm " + arm, stage);
      });
  lines.clear();
  for (const ArmBuild& build : builds) {
    fmt::print(stderr, "arm {}  {}\n", build.arm, outcome(build));
  }
  return builds;
}

}  // namespace numabench
