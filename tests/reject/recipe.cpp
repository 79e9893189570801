// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/with.hpp"
using namespace sinter;

// Must not compile (quick), no_model: this recipe has no model
struct mine : Recipe<Bytes<>, Batch<{.global = 8, .micro = 4}>> {};

// Must not compile (quick), not_a_recipe: Sinter: R, in this error, is no recipe.
struct mine {};

// Must not compile (quick), two_in_one_slot: two policies claim one slot
struct mine : Recipe<Mlp<>, KeepAll, Fp64, Checkpoint<>> {};

// Must not compile, with_two_in_one_slot: two policies claim one slot
// and: KeepAll and: Checkpoint
struct small : Recipe<Mlp<>, Fp64> {};
struct mine : With<small, KeepAll, Checkpoint<>> {};

// Must not compile, with_no_policy: a recipe is made of policies, and Policy, in this error, is none
struct small : Recipe<Mlp<>, Fp64> {};
struct mine : With<small, BatchOptions> {};

// Must not compile, with_of_no_recipe: Sinter: R, in this error, is no recipe.
struct small {};
struct mine : With<small, KeepAll> {};

// Must not compile, with_a_broken_rule: micro × ranks does not divide global
struct small : Recipe<Mlp<>, Batch<{.global = 8, .micro = 4}>> {};
struct mine : With<small, Batch<{.global = 8, .micro = 3}>> {};
