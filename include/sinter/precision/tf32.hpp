// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Fp32 but for one thing: if the processor has units that multiply shorter numbers, the inputs of
/// layers' matmuls are rounded on their way into them. Sums stay fp32, and so do weights,
/// activations, gradients, attention's inner products and the optimizer's matmuls. The name is that
/// of what GPUs do (NVIDIA's TF32). A CPU rounds to bfloat16 as matrices are packed for AMX or
/// AVX-512 BF16, as PyTorch does after set_float32_matmul_precision("medium"); without such units
/// it is Fp32, bit for bit. The header of a run and `describe` say which. Each input is rounded by
/// at most 2^-8 of itself, so a product of depth k errs by at most
/// (2^-7 + 2^-16 + (1 + √k) ε) Σ|a b|.
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
