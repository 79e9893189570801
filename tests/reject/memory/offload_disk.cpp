// SPDX-License-Identifier: Apache-2.0
// Must not compile: Offload: a card offloads nothing to a disk
#include "sinter/device/cuda.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine
    : Recipe<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Cuda<>, Offload<{.to = OffloadTo::disk}>> {};
constexpr bool checked = ready<mine>();
