// The random numbers of every workload: xoshiro256** seeded by splitmix64, so that a seed gives the
// same pages on every machine and compiler.
//
// Source of both algorithms: Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators"
// (2021); they are in the public domain. The standard library's distributions are not used because
// their output differs between implementations.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace numabench {

/// One step of splitmix64 from `state`; also a good 64-bit mixing function.
constexpr std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// A seed for one use of a run's seed ("clients", 3), unrelated to the seeds of its other uses.
constexpr std::uint64_t derived_seed(std::uint64_t seed, std::string_view use,
                                     std::uint64_t index = 0) {
  for (const char c : use) seed = splitmix64(seed ^ static_cast<unsigned char>(c));
  return splitmix64(splitmix64(seed) ^ index);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      word = splitmix64(seed);
      seed += 0x9e3779b97f4a7c15u;
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1) with 53 random bits.
  double next_double() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Uniform in [0, bound), bound > 0; bias below 2^-64 × bound (multiply-shift, no rejection).
  std::uint64_t next_below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace numabench
