// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: an_option_is_out_of_range
// and: AdamW<
// and: {"lr"}
// and: -1.0
// and: {"at least 0"}
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, AdamW<{.lr = -1}>> {};
constexpr bool checked = ready<mine>();
