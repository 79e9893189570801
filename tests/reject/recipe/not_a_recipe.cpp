// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: R, in this error, is no recipe.
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine {};
constexpr bool checked = ready<mine>();
