// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: LinearDecay<
// and: {"the warm-up is beyond the horizon"}
// and: {"raise steps, or lower warmup"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/schedule/linear_decay.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, LinearDecay<{.warmup = 100, .steps = 20}>> {};
constexpr bool checked = ready<mine>();
