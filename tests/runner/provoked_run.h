// What a test needs to make something real happen to a run.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "runner/run_loop.h"

namespace numabench {

class KeepingObserver : public RunObserver {
 public:
  void begin(const PlannedRun&) override {}
  void stage(const std::string&) override {}
  void finish(const PlannedRun&, RunRecord run) override { record = std::move(run); }
  RunRecord record;
};

/// Does something when it is looked at.
class Provoker : public Sensor {
 public:
  explicit Provoker(std::function<void()> act) : act_(std::move(act)) {}
  std::vector<MetricValue> read(double) override {
    act_();
    return {};
  }

 private:
  std::function<void()> act_;
};

}  // namespace numabench
