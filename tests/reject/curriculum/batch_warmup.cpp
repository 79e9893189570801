// SPDX-License-Identifier: Apache-2.0
// Must not compile: BatchWarmup: the ramp does not fit the batch
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Batch<{.global = 32, .micro = 4}>,
                     BatchWarmup<{.from = 6, .sequences = 1000}>> {};
constexpr bool checked = ready<mine>();
