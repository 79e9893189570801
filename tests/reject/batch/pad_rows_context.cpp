// SPDX-License-Identifier: Apache-2.0
// Must not compile: PadRows: the context is no multiple of `multiple`
#include "sinter/batch/pad_rows.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 20}>, PadRows<{.multiple = 8}>> {};
constexpr bool checked = ready<mine>();
