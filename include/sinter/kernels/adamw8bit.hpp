// SPDX-License-Identifier: Apache-2.0
// AdamW whose moments take one byte each: block-wise dynamic quantization (Dettmers et al. 2022,
// 8-bit Optimizers via Block-wise Quantization), as bitsandbytes has it.
#pragma once
#include <array>
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/optimizer.hpp"

namespace sinter::kernel {

/// Elements that share a scale.
inline constexpr int adamw8bit_block = 256;

/// Number of scales that each moment of n elements has.
constexpr std::int64_t adamw8bit_scales(std::int64_t n) {
  return (n + adamw8bit_block - 1) / adamw8bit_block;
}

/// Values that the bytes of the first moment stand for, ascending in [-1, 1], as bitsandbytes'
/// create_dynamic_map gives them.
const std::array<float, 256>& signed_dynamic_map();
/// Values that the bytes of the second moment stand for, ascending in [0, 1], from the same source.
const std::array<float, 256>& unsigned_dynamic_map();

/// Updates master and the moments, in the order of bitsandbytes' block-wise kernel:
///   v = beta2 v + (1 - beta2) g²; m = beta1 m + (1 - beta1) g
///   p -= lr √correction2 / correction1 · m / (√v + √correction2 eps); p *= 1 - lr weight_decay
///   copy = p, rounded
/// At the end, m and v are divided by their block's scale, its largest |m| or |v|. They are rounded
/// to the nearest value of the map, but a negative m never to zero. master, gradient, mean, square
/// and copy have n elements, and copy may be null. mean_scale and square_scale have
/// adamw8bit_scales(n), all zero before the first step. (M, G, C) is (float, float, float), (float,
/// float, BFloat16) or (float, float, Float16). A gradient that is not finite makes its parameter
/// NaN, and its block's moments useless. The bits are the same for every number of threads.
///
/// Errors of one step, with ε the epsilon of float and g the gradient times decision->scale:
///   scales   4 ε of the largest |m| + |g|, and of v
///   moments  half the distance of the map's values, and ε more
///   p        as adamw()
template <class M, class G, class C>
void adamw8bit(Stream& stream, M* master, const G* gradient, std::uint8_t* mean,
               std::uint8_t* square, float* mean_scale, float* square_scale, C* copy,
               std::int64_t n, const AdamWStep& step);

}  // namespace sinter::kernel
