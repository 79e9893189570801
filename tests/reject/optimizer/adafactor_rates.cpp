// SPDX-License-Identifier: Apache-2.0
// Must not compile: Adafactor: lr is given beside relative_step
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Adafactor<{.lr = 0.5, .relative_step = true}>> {};
constexpr bool checked = ready<mine>();
