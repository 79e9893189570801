// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: a policy of this recipe names parameters wrongly
// and: "a unit is frozen in part alone"
// and: "h.3.mlp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<>, Freeze<"h.3.mlp">> {};
constexpr bool checked = ready<mine>();
