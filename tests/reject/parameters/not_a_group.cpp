// SPDX-License-Identifier: Apache-2.0
// Must not compile: Groups: it is made of groups, and P, in this error, is none
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Groups<Freeze<"input">>> {};
constexpr bool checked = ready<mine>();
