// What an engine throws when it cannot go on because of what breaks a rule.
#pragma once

#include "hosts/error.h"
#include "runner/measure/void_rules.h"

namespace numabench {

/// A server that crashed, say. The rule decides what becomes of the run.
class BrokenRule : public Error {
 public:
  explicit BrokenRule(const Breach& breach)
      : Error(ErrorKind::kRun, breach.what, find_void_rule(breach.rule)->remedy), breach_(breach) {}
  const Breach& breach() const { return breach_; }

 private:
  Breach breach_;
};

}  // namespace numabench
