// SPDX-License-Identifier: Apache-2.0
// Must not compile: Batch: micro × ranks does not divide global
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Mlp<>, Batch<{.global = 8, .micro = 8}>, Ddp<{.ranks = 2}>> {};
constexpr bool checked = ready<mine>();
