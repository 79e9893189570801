// SPDX-License-Identifier: Apache-2.0
// Must not compile: Llama: head_width is odd
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 64, .head_width = 15}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
