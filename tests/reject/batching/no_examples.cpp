// SPDX-License-Identifier: Apache-2.0
// Must not compile: Batching: these data have no examples to put into batches
#include "sinter/batching/padded.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 16}>, Padded> {};
constexpr bool checked = ready<mine>();
