// What being used does to a buffer's usage, by PoolPolicy::usage and PoolPolicy::admission.
#pragma once

#include <cstdint>

#include "runner/config/pool_policy.h"

namespace numabench {

/// The highest usage a buffer can have: 5 (count), 1 (second_chance), 2 (hot_cool).
constexpr std::uint32_t highest_usage(PoolPolicy::Usage usage) {
  switch (usage) {
    case PoolPolicy::Usage::kSecondChance:
      return 1;
    case PoolPolicy::Usage::kHotCool:
      return 2;
    case PoolPolicy::Usage::kCount:
      break;
  }
  return 5;
}

/// After a first pin of a resident page; `in_ring`: by a bulk read with a ring.
constexpr std::uint32_t usage_after_pin(PoolPolicy::Usage rule, std::uint32_t usage, bool in_ring) {
  const std::uint32_t highest = highest_usage(rule);
  if (rule != PoolPolicy::Usage::kCount) return highest;
  const std::uint32_t limit = in_ring ? 1 : highest;
  return usage < limit ? usage + 1 : usage;
}

/// Of a page that has just been brought in.
constexpr std::uint32_t admitted_usage(const PoolPolicy& policy) {
  if (policy.admission == PoolPolicy::Admission::kProbation) return 0;
  return policy.usage == PoolPolicy::Usage::kHotCool ? 2 : 1;
}

/// The highest usage with which a ring takes its buffer back.
constexpr std::uint32_t reusable_usage(PoolPolicy::Usage rule) {
  return rule == PoolPolicy::Usage::kHotCool ? 0 : 1;
}

}  // namespace numabench
