// SPDX-License-Identifier: Apache-2.0
// Must not compile: Llama: the model's vocabulary is smaller than the data's
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .vocabulary = 255}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
