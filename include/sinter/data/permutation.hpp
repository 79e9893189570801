// SPDX-License-Identifier: Apache-2.0
// A random order of n items that needs no memory and no replay.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "sinter/kernels/random.hpp"

namespace sinter::detail {

/// A shuffled order of the items 0 to count - 1, for data sources: permutation(i) is item number i
/// of it. A key, such as seed and epoch, chooses the order, which is never stored. Integer
/// arithmetic alone makes it equal on every machine. It is not for cryptography.
///
/// The method is a Feistel network of 8 rounds over the next power of two (Luby and Rackoff, "How
/// to construct pseudorandom permutations", 1988). It is walked until it falls inside [0, count),
/// at most 2 evaluations per item on average, from 128 items on (Black and Rogaway, "Ciphers with
/// arbitrary finite domains", 2002). The round function is SplitMix64's finaliser (Steele, Lea and
/// Flood, 2014).
class Permutation {
  static constexpr int rounds = 8;
  static constexpr int smallest_bits = 8;  // smaller networks cannot reach all orders
  std::uint64_t count;
  int low_bits, high_bits;
  std::array<std::uint64_t, rounds> keys{};

 public:
  /// requires  count >= 1
  constexpr Permutation(std::uint64_t count_, std::uint64_t key) : count(count_) {
    int bits = std::bit_width(count - 1);
    if (bits < smallest_bits) bits = smallest_bits;
    high_bits = bits / 2;
    low_bits = bits - high_bits;
    for (auto& k : keys) k = kernel::mix_bits(key += kernel::mix_step);
  }

  constexpr std::uint64_t size() const { return count; }  ///< the number of items, `count`

  /// requires  i < size()
  constexpr std::uint64_t operator()(std::uint64_t i) const {
    do i = scramble(i);
    while (i >= count);
    return i;
  }

  /// The key of one epoch under one seed.
  static constexpr std::uint64_t epoch_key(std::uint64_t seed, std::uint64_t epoch) {
    return kernel::mix_bits(kernel::mix(seed) ^ epoch);
  }

  /// The key of one item in one epoch under one seed.
  static constexpr std::uint64_t item_key(std::uint64_t seed, std::uint64_t epoch,
                                          std::uint64_t item) {
    return kernel::mix_bits(kernel::mix(epoch_key(seed, epoch)) ^ item);
  }

  /// A number in [0, bound) drawn by a key. Its distribution is uneven by less than bound · 2⁻³².
  /// requires  bound < 2³²
  static constexpr std::uint64_t draw(std::uint64_t key, std::uint64_t bound) {
    return (kernel::mix_bits(~key) >> 32) * bound >> 32;
  }

 private:
  constexpr std::uint64_t scramble(std::uint64_t i) const {
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t high_mask = (std::uint64_t{1} << high_bits) - 1;
    std::uint64_t low = i & low_mask, high = i >> low_bits;
    for (int r = 0; r < rounds; r += 2) {
      high ^= kernel::mix_bits(low ^ keys[r]) & high_mask;
      low ^= kernel::mix_bits(high ^ keys[r + 1]) & low_mask;
    }
    return high << low_bits | low;
  }
};

}  // namespace sinter::detail
