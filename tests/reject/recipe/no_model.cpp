// SPDX-License-Identifier: Apache-2.0
// Must not compile: this recipe has no model
#include "sinter/data/bytes.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Bytes<>, Batch<{.global = 8, .micro = 4}>> {};
constexpr bool checked = ready<mine>();
