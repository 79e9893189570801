// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: {"warmup and decay are beyond steps"}
// and: {"raise steps, or lower one of them"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/schedule/warmup_stable_decay.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, WarmupStableDecay<{.warmup = 10, .steps = 100, .decay = 91}>> {};
constexpr bool checked = ready<mine>();
