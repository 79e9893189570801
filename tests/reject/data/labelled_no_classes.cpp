// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: the model does not learn a class of each sequence
#include "sinter/data/labelled_text.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>,
                     LabelledText<"label", "sentence">> {};
constexpr bool checked = ready<mine>();
