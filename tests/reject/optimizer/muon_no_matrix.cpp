// SPDX-License-Identifier: Apache-2.0
// Must not compile: Muon: the model of this recipe has no hidden matrix
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.in = 4, .out = 2, .layers = 2}>, Muon<>> {};
constexpr bool checked = ready<mine>();
