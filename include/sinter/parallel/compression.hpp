// SPDX-License-Identifier: Apache-2.0
// Gradients as bf16 on their way between ranks.
#pragma once
#include <algorithm>
#include <cstring>

#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/elementwise.hpp"

namespace sinter {

/// As what gradients move between ranks.
enum class GradientCompression : std::uint8_t {
  none,  // as they are
  bf16   // each rounded to bf16 before, and so is their sum
};
/// The name of a compression, as `describe` and files have it.
constexpr std::string_view name_of(GradientCompression compression) {
  return compression == GradientCompression::bf16 ? "bf16" : "none";
}

/// So many numbers at the beginning go through memory of their own, as kernels may not write what they
/// read otherwise.
inline constexpr std::int64_t compressed_apart = 64;
/// The bytes of that.
inline constexpr std::int64_t compression_workspace =
    compressed_apart * std::int64_t(sizeof(BFloat16));

/// Rounds numbers to bf16, which then lie in the first half of their array, one after the other.
///   workspace   of compression_workspace bytes on the device
inline void compress(kernel::Stream& stream, float* numbers, std::int64_t count,
                     std::byte* workspace) {
  BFloat16* const narrow = reinterpret_cast<BFloat16*>(numbers);
  const std::int64_t apart = std::min(count, compressed_apart);
  kernel::cast(stream, numbers, reinterpret_cast<BFloat16*>(workspace), apart);
  copy_on_device(stream, workspace, reinterpret_cast<std::byte*>(narrow),
                 apart * std::int64_t(sizeof(BFloat16)));
  // What [first, 2 first) becomes lies where [first / 2, first) has been read.
  for (std::int64_t first = apart; first < count; first *= 2)
    kernel::cast(stream, numbers + first, narrow + first, std::min(first, count - first));
}

/// Makes numbers of these again: the bf16 that they were rounded to, or the sums of such.
inline void expand(kernel::Stream& stream, float* numbers, std::int64_t count,
                   std::byte* workspace) {
  const BFloat16* const narrow = reinterpret_cast<BFloat16*>(numbers);
  const std::int64_t apart = std::min(count, compressed_apart);
  std::int64_t first = apart;
  while (first < count) first *= 2;
  while ((first /= 2) >= apart && count > apart)
    kernel::cast(stream, narrow + first, numbers + first, std::min(first, count - first));
  copy_on_device(stream, reinterpret_cast<const std::byte*>(narrow), workspace,
                 apart * std::int64_t(sizeof(BFloat16)));
  kernel::cast(stream, reinterpret_cast<const BFloat16*>(workspace), numbers, apart);
}

}  // namespace sinter
