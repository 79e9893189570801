// SPDX-License-Identifier: Apache-2.0
// AdamW whose moments take one byte each: block-wise dynamic quantization (Dettmers et al. 2022,
// 8-bit Optimizers via Block-wise Quantization), as bitsandbytes has it.
#pragma once
#include <array>
#include <cstdint>

#include "sinter/kernels/adamw.hpp"

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

/// Moments of one byte an element, with adamw8bit_scales(n) scales each: all zero before the first
/// step.
struct Adamw8bitMoments {
  /** the bytes of m */ std::uint8_t *mean, *square;        ///< the bytes of v
  /** the scales of m */ float *mean_scale, *square_scale;  ///< the scales of v
};

/// Updates a span and the moments m and v, in the order of bitsandbytes' block-wise kernel:
///   v = beta2 v + (1 - beta2) g²; m = beta1 m + (1 - beta1) g
///   p -= lr √correction2 / correction1 · m / (√v + √correction2 eps); p *= 1 - lr weight_decay
///   copy = p, rounded
/// At the end, m and v are divided by their block's scale, its largest |m| or |v|. They are rounded
/// to the nearest value of the map, but a negative m never to zero. Of the span's decision only the
/// scale is used. (M, G, S, C) is (float, float, float, C), C = float, BFloat16 or Float16. A
/// gradient that is not finite makes its parameter NaN, and its block's moments useless. The bits
/// are the same for every number of threads.
///
/// Errors of one step, with ε the epsilon of float and g the gradient times decision->scale:
///   scales   4 ε of the largest |m| + |g|, and of v
///   moments  half the distance of the map's values, and ε more
///   p        as adamw()
template <class M, class G, class S, class C>
void adamw8bit(const AdamWOptions& options, const ParameterSpan<M, G, S, C>& span,
               const Adamw8bitMoments& moments);

}  // namespace sinter::kernel
