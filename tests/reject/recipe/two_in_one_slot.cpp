// SPDX-License-Identifier: Apache-2.0
// Must not compile: two policies claim one slot
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, KeepAll, Fp64, Checkpoint<>> {};
constexpr bool checked = ready<mine>();
