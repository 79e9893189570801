// SPDX-License-Identifier: Apache-2.0
// Must not compile: PadRows: a target of this model is numbers
#include "sinter/batch/pad_rows.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Eights {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 0;
};
struct mine : Recipe<Mlp<>, Eights, PadRows<>> {};
constexpr bool checked = ready<mine>();
