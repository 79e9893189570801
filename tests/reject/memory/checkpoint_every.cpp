// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"every"}
// and: {"at least 1"}
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Checkpoint<{.every = 0}>> {};
constexpr bool checked = ready<mine>();
