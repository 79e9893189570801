// SPDX-License-Identifier: Apache-2.0
// Compression of gradients to bf16 for transfers between ranks.
#pragma once
#include <algorithm>
#include <cstring>

#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/elementwise.hpp"

namespace sinter {

/// The type of gradients in transfers between ranks.
enum class GradientCompression : std::uint8_t {
  none,  // their own type
  bf16   // bf16: each is rounded before the sum, and the sum is rounded again
};
/// The name of a compression in `describe` and files.
constexpr std::string_view name_of(GradientCompression compression) {
  return compression == GradientCompression::bf16 ? "bf16" : "none";
}

namespace detail {
/// Number of leading elements that go through the workspace, as kernels must not overwrite what
/// they still read.
inline constexpr std::int64_t compressed_apart = 64;
/// Bytes of the workspace of compress() and expand().
inline constexpr std::int64_t compression_workspace =
    compressed_apart * std::int64_t(sizeof(BFloat16));

/// Rounds numbers to bf16 in place; the results fill the first half of the array.
///   workspace   compression_workspace bytes on the device
inline void compress(kernel::Stream& stream, float* numbers, std::int64_t count,
                     std::byte* workspace) {
  BFloat16* const narrow = reinterpret_cast<BFloat16*>(numbers);
  const std::int64_t apart = std::min(count, compressed_apart);
  kernel::cast(stream, numbers, reinterpret_cast<BFloat16*>(workspace), apart);
  copy_on_device(stream, workspace, reinterpret_cast<std::byte*>(narrow),
                 apart * std::int64_t(sizeof(BFloat16)));
  // The results of [first, 2 first) overwrite [first / 2, first), which has been read.
  for (std::int64_t first = apart; first < count; first *= 2)
    kernel::cast(stream, numbers + first, narrow + first, std::min(first, count - first));
}

/// Widens, in place, the bf16 left by compress(), or sums of them, to fp32.
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
}  // namespace detail

}  // namespace sinter
