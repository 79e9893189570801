// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by whatever unit of the device multiplies it.
#include "unit/kernels/attention_bf16.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("attention of bfloat16 keeps its bounds") { check_bf16_spans(); }

TEST_CASE(
    "bf16 attention keeps its bounds in wide heads and in widths that are no multiple of 16") {
  for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{}})
    for (int depth : {8, 24, 40, 72, 128, 136}) check_bf16({0, 17, 90}, 2, depth, span);
}

TEST_CASE("bf16 attention over long sequences keeps its bounds, in several tiles") {
  check_bf16({0, 300, 301, 450}, 2, 64, {.causal = true});
  check_bf16({0, 300, 301, 450}, 2, 64, {.causal = true, .window = 100});
  check_bf16({0, 200}, 1, 128, {});
}

TEST_CASE("bf16 attention keeps its bounds with dropout, and if heads share keys") {
  check_bf16_heads();
}

TEST_CASE("bf16 cross-attention keeps its bounds") { check_bf16_cross(); }

TEST_CASE("a NaN reaches what attends to it in bf16 attention") { check_bf16_not_finite(); }

}  // namespace
}  // namespace sinter::detail::testing
