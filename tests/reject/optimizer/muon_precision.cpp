// SPDX-License-Identifier: Apache-2.0
// Must not compile: The optimizer of this recipe wants master weights and
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Muon<>, Fp64> {};
constexpr bool checked = ready<mine>();
