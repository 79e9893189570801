// SPDX-License-Identifier: Apache-2.0
// Must not compile: Offload: the optimizer of this recipe keeps no state
#include "sinter/memory/offload.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Sgd<>, Offload<>> {};
constexpr bool checked = ready<mine>();
