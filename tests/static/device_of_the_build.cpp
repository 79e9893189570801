// SPDX-License-Identifier: Apache-2.0
// A recipe that names no device gets that of the build.
#define SINTER_CUDA 1
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

namespace {

struct of_the_build : Recipe<Mlp<>> {};
struct named : Recipe<Mlp<>, Cuda<{.card = 1}>> {};

static_assert(ready<of_the_build>() && ready<named>());
static_assert(std::is_same_v<of_the_build::device, Cuda<>>);
static_assert(named::device::options.card == 1);

}  // namespace
