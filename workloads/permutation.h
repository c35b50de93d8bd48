// A seeded permutation of [0, n): scatters hot rows over the heap, as pgbench's permute() does.
#pragma once

#include <array>
#include <cstdint>

namespace numabench {

/// A Feistel network on pairs (left, right) with left < columns and right < 2^k, the smallest such
/// grid that holds n with both sides near sqrt(n); a value outside [0, n) is sent through again.
/// The grid exceeds n by less than 2^k, about sqrt(n), so that a second pass is rare enough for the
/// branch predictor, and splitting a value into its pair needs no division. No table: any n costs
/// the same memory.
///
/// Source of the construction (unequal sides, cycle walking): Black and Rogaway, "Ciphers with
/// arbitrary finite domains", CT-RSA 2002. It scatters; it keeps no secrets.
class Permutation {
 public:
  /// n >= 1 and below 2^62.
  Permutation(std::uint64_t n, std::uint64_t seed);

  /// index < n; the result is too.
  std::uint64_t operator()(std::uint64_t index) const {
    std::uint64_t value = encipher(index);
    while (value >= n_) [[unlikely]] {
        value = encipher(value);
      }
    return value;
  }

 private:
  struct Round {
    std::uint64_t left_key;
    std::uint64_t right_key;
  };

  /// 32 well-mixed bits of `value`: two of splitmix64's three steps (see random.h) are enough here.
  static std::uint64_t hash(std::uint64_t value, std::uint64_t key) {
    value = (value ^ key) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 32)) * 0x94d049bb133111ebu;
    return value >> 32;
  }

  std::uint64_t encipher(std::uint64_t value) const {
    std::uint64_t left = value >> right_bits_;
    std::uint64_t right = value & right_mask_;
    for (const Round& round : rounds_) {
      left += (hash(right, round.left_key) * columns_) >> 32;
      left -= left >= columns_ ? columns_ : 0;
      right ^= hash(left, round.right_key) & right_mask_;
    }
    return left << right_bits_ | right;
  }

  std::uint64_t n_;
  unsigned right_bits_;
  std::uint64_t right_mask_;
  std::uint64_t columns_;
  std::array<Round, 2> rounds_;
};

}  // namespace numabench
