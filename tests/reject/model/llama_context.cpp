// SPDX-License-Identifier: Apache-2.0
// Must not compile: Llama: the data's context is beyond the model's positions
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .positions = 128}>,
                     Bytes<{.context = 129}>> {};
constexpr bool checked = ready<mine>();
