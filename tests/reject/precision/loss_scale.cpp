// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: {"initial_scale is below its minimum"}
// and: {"raise it, or lower minimum_scale"}
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Fp16<{.initial_scale = 1, .minimum_scale = 2}>> {};
constexpr bool checked = ready<mine>();
