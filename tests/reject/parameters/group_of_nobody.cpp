// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy of this recipe names parameters wrongly
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Groups<Group<"*.biass", {.learning_rate = 2}>>> {};
constexpr bool checked = ready<mine>();
