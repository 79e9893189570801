// SPDX-License-Identifier: Apache-2.0
// Must not compile: Groups: the learning_rate of a group is below 0, or not finite
// and: GroupOptions{-2
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Groups<Group<"*.bias", {.learning_rate = -2}>>> {};
constexpr bool checked = ready<mine>();
