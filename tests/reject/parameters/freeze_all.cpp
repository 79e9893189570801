// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy of this recipe names parameters wrongly
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Freeze<"*">> {};
constexpr bool checked = ready<mine>();
