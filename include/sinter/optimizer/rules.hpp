// SPDX-License-Identifier: Apache-2.0
// Rules of recipes whose optimizer is not elementwise. Each ends with its `reason`.
#pragma once
#include <type_traits>

#include "sinter/policy/concepts.hpp"

namespace sinter::detail {

SINTER_RULE(MastersAreFloat,
            (std::is_same_v<typename R::precision::master, float> &&
             std::is_same_v<typename R::precision::gradient, float>),
            "The optimizer of this recipe wants master weights and gradients in fp32, and its "
            "precision has others. Why: its arithmetic is fp32 over whole matrices or blocks. Fix: "
            "use Fp32, Tf32, Bf16 or Fp16 with masters, or AdamW.",
            "the optimizer wants master weights and gradients in fp32: its arithmetic is fp32 over "
            "whole matrices or blocks");
SINTER_RULE(
    NotClippedByValue, !hook::HasLimit<typename R::clipping>,
    "The optimizer of this recipe does not clip by value. Why: it takes a matrix or a block as a "
    "whole, and how large each gradient was is lost in its update. Fix: use ClipNorm or NoClip.",
    "the optimizer takes matrices or blocks whole, so how large each gradient was is lost");

}  // namespace sinter::detail
