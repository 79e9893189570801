// SPDX-License-Identifier: Apache-2.0
// Must not compile: a recipe is made of policies
// and: BatchOptions
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, BatchOptions> {};
constexpr bool checked = ready<mine>();
