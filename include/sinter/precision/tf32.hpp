// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Fp32 whose layers' matmuls round their inputs, if the processor multiplies shorter numbers. Sums
/// stay fp32, and so do weights, activations, gradients, attention's inner products and the
/// optimizer's matmuls. The name is NVIDIA's for the same mode of GPUs. A CPU rounds to bfloat16 as
/// it packs matrices for AMX or AVX-512 BF16, like PyTorch after
/// set_float32_matmul_precision("medium"). Without such units it equals Fp32 bit for bit; the
/// header of a run and `describe` print which. Each input is rounded by at most 2^-8 of itself, so
/// a product of depth k errs by at most (2^-7 + 2^-16 + (1 + √k) ε) Σ|a b|.
struct Tf32 {
  using slot = slot::precision;
  using compute = float;
  using statistic = float;
  using gradient = float;
  using master = float;
  using accumulate = float;
  static constexpr kernel::MatmulInputs matmul_inputs = kernel::MatmulInputs::rounded;
};

}  // namespace sinter
