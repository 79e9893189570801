// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: {"scaling_factor without scaling"}
// and: {"choose linear or llama3"}
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .scaling_factor = 2}>, Bytes<>> {
};
constexpr bool checked = ready<mine>();
