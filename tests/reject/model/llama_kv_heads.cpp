// SPDX-License-Identifier: Apache-2.0
// Must not compile: Llama: kv_heads does not divide heads
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .kv_heads = 3, .width = 64}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
