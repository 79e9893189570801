// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: ClipNorm<
// and: {"max"}
// and: {"above 0"}
#include <limits>

#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, ClipNorm<{.max = std::numeric_limits<double>::infinity()}>> {};
constexpr bool checked = ready<mine>();
