// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sgd: nesterov needs momentum
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Sgd<{.lr = 0.1, .nesterov = true}>> {};
constexpr bool checked = ready<mine>();
