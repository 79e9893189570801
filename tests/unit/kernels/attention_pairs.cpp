// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by the fastest unit of the processor, and in fp32 on the other instruction
// sets.
#include "unit/kernels/attention_bf16.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("attention of bfloat16 equals its definition, both directions") {
  on_every_instruction_set(check_bf16_spans);
}
TEST_CASE("attention of bfloat16 equals its definition with dropout, shared keys, long sequences") {
  on_every_instruction_set(check_bf16_heads);
  check_bf16({0, 700, 1300}, 2, 32, {.causal = true});
  check_bf16({0, 40}, 1, kernel::max_head_width, {});
}
TEST_CASE("cross-attention of bfloat16 equals its definition, both directions") {
  on_every_instruction_set([] { check_bf16_cross(); });
}
TEST_CASE("attention of bfloat16 spreads what is not finite") {
  on_every_instruction_set(check_bf16_not_finite);
}

}  // namespace
}  // namespace sinter::detail::testing
