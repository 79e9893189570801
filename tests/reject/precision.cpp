// SPDX-License-Identifier: Apache-2.0
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile (quick), loss_scale: Sinter: options of a policy contradict each other
// and: {"initial_scale is below its minimum"} and: {"raise it, or lower minimum_scale"}
struct mine : Recipe<Mlp<>, Fp16<{.initial_scale = 1, .minimum_scale = 2}>> {};
