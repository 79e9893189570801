// SPDX-License-Identifier: Apache-2.0
// Must not compile: JsonLines: the second name, that of the field to learn, is empty
#include "sinter/data/json_lines.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 258}>,
                     JsonLines<"text", "", {.text = 8, .label = 8}>> {};
constexpr bool checked = ready<mine>();
