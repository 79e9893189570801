// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by pairs of them (attention_pairs-inl.hpp).
#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#endif
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_pairs.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/cpu/attention_bf16_backward-inl.hpp"
#include "kernels/cpu/attention_bf16_forward-inl.hpp"
#include "kernels/cpu/attention_pairs-inl.hpp"
#endif

#if HWY_ONCE
namespace sinter::kernel {

const Bf16Attention* attention_by_pairs() {
#if HWY_TARGETS & HWY_AVX3
  static constexpr Bf16Attention pairs{N_AVX3::forward<N_AVX3::PairProducts>,
                                       N_AVX3::backward<N_AVX3::PairProducts>};
  return &pairs;
#else
  return nullptr;
#endif
}

}  // namespace sinter::kernel
#endif  // HWY_ONCE
