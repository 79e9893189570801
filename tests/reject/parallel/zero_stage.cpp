// SPDX-License-Identifier: Apache-2.0
// Must not compile: Zero: there are only stages 1, 2 and 3
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct text {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 11;
};
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 11, .positions = 8}>,
                     text, Batch<{.global = 4, .micro = 1}>, AdamW<>, Zero<{.stage = 4}>> {};
constexpr bool checked = ready<mine>();
