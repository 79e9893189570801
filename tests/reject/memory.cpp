// SPDX-License-Identifier: Apache-2.0
#include "sinter/device/cuda.hpp"
#include "sinter/memory/budget.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipe_of_layer.hpp"
#include "support/unplanned_layer.hpp"
using namespace sinter;

using Small = Mlp<{.in = 1, .hidden = 4, .out = 1}>;

// Must not compile (quick), budget: Budget: nothing fits. What: the least that this recipe needs
struct mine : Recipe<Mlp<>, Budget<{.bytes = 1000}>> {};

// Must not compile, budget_unplanned: Budget: a layer of this model takes memory that is not planned
struct mine : Recipe<detail::testing::ModelOfLayer<detail::testing::Square<8>>,
                     Budget<{.bytes = 1 << 30}>> {};

// Must not compile, checkpoint_every: Sinter: an option of a policy is outside its range
// and: {"every"} and: {"at least 1"}
struct mine : Recipe<Mlp<>, Checkpoint<{.every = 0}>> {};

// Must not compile, offload_disk: Offload: a card offloads nothing to a disk
struct mine : Recipe<Small, Cuda<>, Offload<{.to = OffloadTo::disk}>> {};

// Must not compile, offload_host: Offload: Cpu offloads nothing to the host
struct mine : Recipe<Small, Cpu, Offload<{.to = OffloadTo::host}>> {};

// Must not compile, offload_nothing: Offload: the optimizer of this recipe keeps no state
struct mine : Recipe<Small, Sgd<>, Offload<>> {};

// Must not compile, offload_whole_weights: Offload: weights are offloaded that ranks send to each other whole
struct mine : Recipe<Small, Zero<{.stage = 2, .ranks = 2}>, Batch<{.global = 2, .micro = 1}>,
                     Offload<{.weights = true}>> {};
