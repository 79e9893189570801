// SPDX-License-Identifier: Apache-2.0
// Must not compile: Seq2Seq: the model's vocabulary is smaller than the data's
#include "sinter/model/seq2seq.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/recipes.hpp"
using namespace sinter;

struct mine : Recipe<Seq2Seq<{.encoder_layers = 1,
                              .decoder_layers = 1,
                              .heads = 2,
                              .width = 16,
                              .hidden = 16,
                              .vocabulary = 256,
                              .positions = 16}>,
                     testing::UpToBoth<16, 16, 257>> {};
constexpr bool checked = ready<mine>();
