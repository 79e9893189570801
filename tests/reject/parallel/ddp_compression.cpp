// SPDX-License-Identifier: Apache-2.0
// Must not compile: Ddp: only gradients of fp32 are compressed to bf16
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, Fp64,
                     Ddp<{.compression = GradientCompression::bf16}>> {};
constexpr bool checked = ready<mine>();
