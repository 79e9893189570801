// SPDX-License-Identifier: Apache-2.0
#include <hwy/targets.h>

#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/gemm.hpp"

namespace sinter::kernel {

const Bf16Attention* forced_bf16_attention = nullptr;

const Bf16Attention* bf16_attention(int depth) {
  if (depth % 16 != 0 || !(hwy::SupportedTargets() & HWY_AVX3) || !has_pairs()) return nullptr;
  if (forced_bf16_attention) return forced_bf16_attention;
  const Gemm gemm = preferred_gemm<BFloat16>();
  if (gemm == Gemm::amx) return attention_by_amx();
  return gemm == Gemm::pairs ? attention_by_pairs() : nullptr;
}

}  // namespace sinter::kernel
