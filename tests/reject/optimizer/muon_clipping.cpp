// SPDX-License-Identifier: Apache-2.0
// Must not compile: The optimizer of this recipe does not clip by value
#include "sinter/clipping/clip_value.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Muon<>, ClipValue<>> {};
constexpr bool checked = ready<mine>();
