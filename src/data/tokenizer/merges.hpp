// SPDX-License-Identifier: Apache-2.0
// The merges of a BPE: which two neighbouring tokens become one, and which of them first.
#pragma once
#include <cstdint>
#include <vector>

namespace sinter::detail {

/// Two tokens that become one. The first of a list of merges comes before all others.
struct Merge {
  std::int32_t left, right, result;
};

class Merges {
 public:
  struct Slot {
    std::uint64_t key;
    std::uint32_t rank;
    std::int32_t result;
  };

 private:
  std::vector<Slot> slots;  // open addressing, with linear probes; at most half are taken
  std::uint64_t mask = 0;
  std::size_t first_of(std::uint64_t key) const {
    return std::size_t((key * 0x9e3779b97f4a7c15u) >> 32 & mask);
  }

 public:
  /// Of a pair that comes twice, the first counts.
  explicit Merges(const std::vector<Merge>& merges);

  const Slot* find(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t at = first_of(key);; at = (at + 1) & mask) {
      if (slots[at].key == key) return &slots[at];
      if (slots[at].key == empty) return nullptr;
    }
  }
  /// Merges neighbours, the earliest merge first, of equal ones the leftmost, until none is left.
  /// Returns how many of the tokens remain, at the front.
  std::size_t apply(std::int32_t* tokens, std::size_t count) const;

  /// The two ways of apply(), which give the same: for few tokens and for many.
  std::size_t apply_by_scan(std::int32_t* tokens, std::size_t count) const;
  std::size_t apply_by_heap(std::int32_t* tokens, std::size_t count) const;
  static constexpr std::size_t max_scanned = 128;

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t(0);
  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
  }
};

}  // namespace sinter::detail
