// SPDX-License-Identifier: Apache-2.0
#include "sinter/curriculum/batch_warmup.hpp"
#include "sinter/curriculum/length_warmup.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, batch_warmup: BatchWarmup: the ramp does not fit the batch
struct mine : Recipe<Mlp<>, Batch<{.global = 32, .micro = 4}>,
                     BatchWarmup<{.from = 6, .sequences = 1000}>> {};

// Must not compile (quick), length_context: LengthWarmup: the lengths do not fit the context
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 32}>, LengthWarmup<{.from = 64}>> {};

// Must not compile, length_of_rows: LengthWarmup: these data have no sequences to cut
struct mine : Recipe<Mlp<>, LengthWarmup<>> {};
