// SPDX-License-Identifier: Apache-2.0
// Must not compile: Llama: width is not an even multiple of heads
#include "sinter/data/bytes.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Llama<{.layers = 2, .heads = 4, .width = 100}>, Bytes<>> {};
constexpr bool checked = ready<mine>();
