// SPDX-License-Identifier: Apache-2.0
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, freeze_all: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Freeze<"*">> {};

// Must not compile, freeze_nobody: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Freeze<"wte">> {};

// Must not compile, freeze_nothing: Freeze: no name is given
struct mine : Recipe<Mlp<>, Freeze<>> {};

// Must not compile (quick), freeze_part: Sinter: a policy of this recipe names parameters wrongly
// and: "a unit is frozen in part alone" and: "h.3.mlp"
struct mine : Recipe<Gpt2<>, Freeze<"h.3.mlp">> {};

// Must not compile, group_behind_another: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Groups<Group<"*", {.learning_rate = 2}>, Group<"*.bias">>> {};

// Must not compile, group_factor: Groups: the learning_rate of a group is below 0, or not finite
// and: GroupOptions{-2
struct mine : Recipe<Mlp<>, Groups<Group<"*.bias", {.learning_rate = -2}>>> {};

// Must not compile, group_of_nobody: Sinter: a policy of this recipe names parameters wrongly
struct mine : Recipe<Mlp<>, Groups<Group<"*.biass", {.learning_rate = 2}>>> {};

// Must not compile, not_a_group: Groups: it is made of groups, and P, in this error, is none
struct mine : Recipe<Mlp<>, Groups<Freeze<"input">>> {};
