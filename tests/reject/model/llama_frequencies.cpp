// SPDX-License-Identifier: Apache-2.0
// Must not compile: Sinter: options of a policy contradict each other
// and: {"low_frequency is not the lower"}
// and: {"lower it, or raise the other"}
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2,
                            .heads = 4,
                            .width = 64,
                            .scaling = RotaryScaling::llama3,
                            .low_frequency = 4}>,
                     Bytes<>> {};
constexpr bool checked = ready<mine>();
