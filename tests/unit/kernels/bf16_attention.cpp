// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by whatever unit of the device multiplies it.
#include "unit/kernels/attention_bf16.hpp"

namespace sinter::testing {
namespace {

TEST_CASE("attention of bfloat16 keeps its bounds") { check_bf16_spans(); }

TEST_CASE("the same in wide heads, and in heads that are no multiple of 16 wide") {
  for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{}})
    for (int depth : {8, 24, 40, 72, 128, 136}) check_bf16({0, 17, 90}, 2, depth, span);
}

TEST_CASE("the same of long sequences, in several tiles") {
  check_bf16({0, 300, 301, 450}, 2, 64, {.causal = true});
  check_bf16({0, 300, 301, 450}, 2, 64, {.causal = true, .window = 100});
  check_bf16({0, 200}, 1, 128, {});
}

TEST_CASE("the same with dropout, and where heads share keys") { check_bf16_heads(); }

TEST_CASE("the same of cross-attention") { check_bf16_cross(); }

TEST_CASE("a number that is none reaches what sees it") { check_bf16_not_finite(); }

}  // namespace
}  // namespace sinter::testing
