// SPDX-License-Identifier: Apache-2.0
// The dropout mask on the device, bit for bit that of CPUs.
#pragma once
#include <limits>

#include "hardware/cuda/launch.hpp"
#include "kernels/mask.hpp"

namespace sinter::kernel {

/// 32 random bits for each counter under a 64-bit key: a bijection of the counter, MurmurHash3's
/// finalizer with half of the key added before each of its two mixing steps.
__device__ __forceinline__ std::uint32_t random_bits(std::uint64_t key, std::uint32_t counter) {
  std::uint32_t x = counter + std::uint32_t(key);
  x = (x ^ x >> 16) * 0x85ebca6bu + std::uint32_t(key >> 32);
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

/// The dropout of a kernel launch.
template <class S>
struct Mask {
  Dropout dropout;
  std::int32_t threshold;
  S scale;  ///< what kept elements are multiplied by

  explicit Mask(const Dropout& given)
      : dropout(given), threshold(keep_threshold(given)), scale(S(keep_scale(given))) {}

  /// True if anything may be dropped.
  __device__ bool drops() const { return threshold != std::numeric_limits<std::int32_t>::min(); }
  /// x / (1 - p) if the element is kept, else 0. key: row_key() of its row.
  __device__ S apply(S x, std::uint64_t key, int column) const {
    const auto bits = std::int32_t(random_bits(key, std::uint32_t(column)));
    return bits < threshold ? S(0) : x * scale;
  }
};

}  // namespace sinter::kernel
