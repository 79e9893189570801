// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"layers"}
// and: {"at least 2"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.layers = 1}>> {};
constexpr bool checked = ready<mine>();
