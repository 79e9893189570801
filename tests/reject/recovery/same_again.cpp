// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: RollBack<
// and: {"the same steps would fail again"}
// and: {"lower factor, or skip_batches"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recovery/roll_back.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, RollBack<{.factor = 1, .skip_batches = false}>> {};
constexpr bool checked = ready<mine>();
