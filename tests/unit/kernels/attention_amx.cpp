// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 in tiles of a matrix unit: by AMX, and by an emulation of its instructions
// where the processor has AVX-512 BF16, by which the rest of it is computed.
#define SINTER_FEW_TARGETS 1
#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"
#include "support/emulated_tiles.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "unit/kernels/attention_amx.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/cpu/attention_amx-inl.hpp"
#include "kernels/cpu/attention_bf16_backward-inl.hpp"
#include "kernels/cpu/attention_bf16_forward-inl.hpp"
#endif

#if HWY_ONCE
#include "unit/kernels/attention_bf16.hpp"

namespace sinter::kernel {
namespace {

const Bf16Attention* emulated_attention() {
#if HWY_TARGETS & HWY_AVX3
  using Products = N_AVX3::AmxProducts<sinter::detail::testing::EmulatedTiles>;
  static constexpr Bf16Attention emulated{N_AVX3::forward<Products>, N_AVX3::backward<Products>};
  return &emulated;
#else
  return nullptr;
#endif
}

}  // namespace
}  // namespace sinter::kernel

namespace sinter::detail::testing {
namespace {

using kernel::Bf16Attention;

bool vectors_there() {
  const bool there = kernel::has_pairs() && (hwy::SupportedTargets() & HWY_AVX3);
  if (!there) MESSAGE("skipped: this processor has no AVX-512 BF16");
  return there;
}
bool tiles_there() {
  const bool there = kernel::has_amx() && (hwy::SupportedTargets() & HWY_AVX3);
  if (!there) MESSAGE("skipped: this processor has no AMX");
  return there;
}

/// Calls body() while attention of bfloat16 is computed by this.
void by(const Bf16Attention* attention, const auto& body) {
  kernel::forced_bf16_attention = attention;
  body();
  kernel::forced_bf16_attention = nullptr;
}

void on_each_unit(const auto& body) {
  if (vectors_there()) by(kernel::emulated_attention(), body);
  if (tiles_there()) by(kernel::attention_by_amx(), body);
}

TEST_CASE("attention in tiles equals its definition in every span") {
  on_each_unit(check_bf16_spans);
}
TEST_CASE("attention in tiles equals its definition with dropout and heads that share keys") {
  on_each_unit(check_bf16_heads);
}
TEST_CASE("cross-attention in tiles equals its definition") {
  on_each_unit([] { check_bf16_cross(); });
}
TEST_CASE("attention in tiles equals its definition over many rows, and in the widest heads") {
  on_each_unit([] {
    check_bf16({0, 300, 500}, 1, 32, {.causal = true});
    check_bf16({0, 20}, 1, kernel::max_head_width, {});
  });
}
/// y, log_sum and gradients by `attention`, of two sequences; some numbers are subnormal.
Floats results(const Bf16Attention* attention, int depth, AttentionSpan span, double deviation) {
  const Starts starts{0, 50, 181};
  const int heads = 2, n = starts.back(), width = heads * depth;
  auto qkv = normal_values<BFloat16>(n * 3 * width, 1, deviation);
  auto dy = normal_values<BFloat16>(n * width, 2);
  for (std::size_t i = 0; i < qkv.size(); i += 37) qkv[i].bits = 0x0003;
  for (std::size_t i = 0; i < dy.size(); i += 41) dy[i].bits = 0x8007;
  Halves y(n * width), dqkv(qkv.size());
  Floats log_sum(n * heads), scratch(kernel::attention_scratch<BFloat16>(n, width));
  Stream stream(1);
  by(attention, [&] {
    const Dropout dropout{0.1f, 7, 3};
    kernel::attention_forward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                              tensor(log_sum, n, heads), sequences_of(starts), span, dropout);
    kernel::attention_backward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                               tensor(dy, n, width), tensor(log_sum, n, heads),
                               tensor(dqkv, n, 3 * width), sequences_of(starts), span,
                               scratch.data(), dropout);
  });
  Floats all = log_sum;
  all.insert(all.end(), y.begin(), y.end());
  all.insert(all.end(), dqkv.begin(), dqkv.end());
  return all;
}

TEST_CASE("attention in emulated tiles has the bits of the processor's") {
  if (!tiles_there()) return;
  for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{},
                             AttentionSpan{.causal = true, .window = 45}})
    for (int depth : {16, 48, 64})
      for (double deviation : {1., 20.}) {
        CAPTURE(span.causal);
        CAPTURE(span.window);
        CAPTURE(depth);
        CAPTURE(deviation);
        CHECK(same_bits(results(kernel::emulated_attention(), depth, span, deviation),
                        results(kernel::attention_by_amx(), depth, span, deviation)));
      }
}

TEST_CASE("attention in tiles spreads what is not finite") { on_each_unit(check_bf16_not_finite); }

}  // namespace
}  // namespace sinter::detail::testing
#endif  // HWY_ONCE
