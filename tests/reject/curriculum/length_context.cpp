// SPDX-License-Identifier: Apache-2.0
// Must not compile: LengthWarmup: the lengths do not fit the context
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 32}>, LengthWarmup<{.from = 64}>> {};
constexpr bool checked = ready<mine>();
