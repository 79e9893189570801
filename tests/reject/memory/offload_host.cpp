// SPDX-License-Identifier: Apache-2.0
// Must not compile: Offload: Cpu offloads nothing to the host
#include "sinter/memory/offload.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Cpu, Offload<{.to = OffloadTo::host}>> {
};
constexpr bool checked = ready<mine>();
