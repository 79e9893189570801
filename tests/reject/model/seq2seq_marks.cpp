// SPDX-License-Identifier: Apache-2.0
// Must not compile: Seq2Seq: start, end or pad is beyond the vocabulary
#include "sinter/model/seq2seq.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

struct pairs {
  using slot = slot::data;
  static constexpr int context = 16, second_context = 16, vocabulary = 257;
};
struct mine : Recipe<Seq2Seq<{.encoder_layers = 1,
                              .decoder_layers = 1,
                              .heads = 2,
                              .width = 16,
                              .hidden = 16,
                              .vocabulary = 257,
                              .positions = 16,
                              .pad = 257}>,
                     pairs> {};
constexpr bool checked = ready<mine>();
