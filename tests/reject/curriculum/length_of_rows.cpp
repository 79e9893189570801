// SPDX-License-Identifier: Apache-2.0
// Must not compile: LengthWarmup: these data have no sequences to cut
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, LengthWarmup<>> {};
constexpr bool checked = ready<mine>();
