// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile (quick), no_model: this recipe has no model
struct mine : Recipe<Bytes<>, Batch<{.global = 8, .micro = 4}>> {};

// Must not compile (quick), not_a_recipe: Sinter: R, in this error, is no recipe.
struct mine {};

// Must not compile (quick), two_in_one_slot: two policies claim one slot
struct mine : Recipe<Mlp<>, KeepAll, Fp64, Checkpoint<>> {};
