// SPDX-License-Identifier: Apache-2.0
// Must not compile: Offload: weights are offloaded that ranks send to each other whole
#include "sinter/memory/offload.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Zero<{.stage = 2, .ranks = 2}>,
                     Batch<{.global = 2, .micro = 1}>, Offload<{.weights = true}>> {};
constexpr bool checked = ready<mine>();
