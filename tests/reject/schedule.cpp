// SPDX-License-Identifier: Apache-2.0
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "sinter/schedule/warmup_stable_decay.hpp"
using namespace sinter;

// Must not compile, decay_within_warmup: Sinter: options of a policy contradict each other
// and: {"warmup and decay are beyond steps"} and: {"raise steps, or lower one of them"}
struct mine : Recipe<Mlp<>, WarmupStableDecay<{.warmup = 10, .steps = 100, .decay = 91}>> {};

// Must not compile (quick), warmup_beyond_steps: Sinter: options of a policy contradict each other
// and: LinearDecay< and: {"the warm-up is beyond the horizon"}
// and: {"raise steps, or lower warmup"}
struct mine : Recipe<Mlp<>, LinearDecay<{.warmup = 100, .steps = 20}>> {};
