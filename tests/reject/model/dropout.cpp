// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: an option of a policy is outside its range
// and: {"dropout"}
// and: {"at least 0 and below 1"}
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 2, .dropout = 1.0}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
