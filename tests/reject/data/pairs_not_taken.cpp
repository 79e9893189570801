// SPDX-License-Identifier: Apache-2.0
// Must not compile: DialoguePairs: the model does not read a text and write its reply
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>,
                     DialoguePairs<{.text = 8, .label = 8}>> {};
constexpr bool checked = ready<mine>();
