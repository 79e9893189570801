// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by the matrix unit AMX (attention_amx-inl.hpp).
#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"

#if defined(__x86_64__) && defined(__linux__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "kernels/cpu/amx-inl.hpp"
#define SINTER_HAS_AMX
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_amx.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#if HWY_TARGET == HWY_AVX3 && defined(SINTER_HAS_AMX)
#include "kernels/cpu/attention_amx-inl.hpp"
#include "kernels/cpu/attention_bf16_backward-inl.hpp"
#include "kernels/cpu/attention_bf16_forward-inl.hpp"
#endif

#if HWY_ONCE
namespace sinter::kernel {

const Bf16Attention* attention_by_amx() {
#if (HWY_TARGETS & HWY_AVX3) && defined(SINTER_HAS_AMX)
  static constexpr Bf16Attention amx{N_AVX3::forward<N_AVX3::AmxProducts<Amx>>,
                                     N_AVX3::backward<N_AVX3::AmxProducts<Amx>>};
  return &amx;
#else
  return nullptr;
#endif
}

}  // namespace sinter::kernel
#endif  // HWY_ONCE
