// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"lr"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, AdamW<{.lr = -1}>, ClipNorm<{.max = 0}>> {};
constexpr bool checked = ready<mine>();
