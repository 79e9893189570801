// SPDX-License-Identifier: Apache-2.0
// Must not compile: MaskedLm: the data have no tokens
#include "sinter/model/mlp.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, MaskedLm<>> {};
constexpr bool checked = ready<mine>();
