// SPDX-License-Identifier: Apache-2.0
// The rungs of bench/ladder.cpp: what each trains with, and how it is evaluated.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/sinter.hpp"

namespace sinter::detail::bench::ladder {

constexpr int text = 256, label = 256, vocabulary = 8192, batch = 64, longest_reply = 32, ranks = 2;
constexpr int pad = vocabulary - 1;  // an id that no text has, for peers
constexpr double lr = 1e-3, max_norm = 0.1, beta2 = 0.999;

/// A small encoder-decoder of the shape of ParlAI's transformer/generator.
template <class... Policies>
struct replies : Recipe<Seq2Seq<{.encoder_layers = 4,
                                 .decoder_layers = 4,
                                 .heads = 2,
                                 .width = 128,
                                 .hidden = 512,
                                 .vocabulary = vocabulary,
                                 .positions = text,
                                 .position = Positions::sinusoidal,
                                 .activation = Activation::relu,
                                 .scale_embedding = true,
                                 .dropout = 0,
                                 .pad = pad}>,
                        DialoguePairs<{.text = text, .label = label, .vocabulary = vocabulary}>,
                        AdamW<{.lr = lr, .beta2 = beta2, .weight_decay = 0}>,
                        ClipNorm<{.max = max_norm}>, Policies...> {};

/// What the tutorial does first: 64 examples padded to the longest, and evaluations that write.
template <int Beams>
using Baseline =
    replies<Padded, Batch<{.global = batch, .micro = batch}>, Metrics<TokenF1<>>,
            Evaluate<{.tokens = longest_reply, .rows = (Beams * batch), .beams = Beams}>>;

constexpr int budget = batch * (text + label);
using Full = DynamicBatch<{.tokens = budget}>;
using Batchsort = DynamicBatch<{.mode = DynamicMode::batchsort, .tokens = budget}>;
using Larger = DynamicBatch<{.tokens = 2 * budget}>;
/// 64 examples, as in the baseline, of which 8 are computed and padded together.
using Global64 = Batch<{.global = batch, .micro = 8}>;
/// Has room for ParlAI's buffer of 1,021 examples.
using Global1024 = Batch<{.global = 1024, .micro = 8}>;

using View = std::shared_ptr<RecipeView> (*)();
template <class... Policies>
constexpr View of = [] { return Trainer<replies<Policies...>>::options(); };
/// True if the processor multiplies bf16 by units of its own. Elsewhere fp32 is faster.
inline bool has_units_for_bf16() {
  return kernel::matmul_unit<BFloat16>() != kernel::MatmulUnit::widened;
}
/// In half precision where that is faster, else in fp32.
template <class... Policies>
constexpr View in_the_faster =
    [] { return has_units_for_bf16() ? of<Policies..., Bf16>() : of<Policies...>(); };
template <int Beams>
constexpr View baseline = [] { return Trainer<Baseline<Beams>>::options(); };

/// A row of the table: an evaluation of what a rung has trained.
struct Rung {
  const char* name;
  /// How many times as fast as the baseline ParlAI's tutorial is, in all and in training; 0 where it
  /// does not say.
  double tutorial = 0, tutorial_training = 0;
  int at_once = 0;           // sequences of a batch; 0: as many as are planned
  bool writes = false;       // replies, too
  View evaluator = nullptr;  // what evaluates, if it is another recipe
};

/// What one process trains. Rungs whose training is the same share it.
struct Training {
  const char* name;
  View view;
  std::vector<Rung> rungs;
  int workers = 0;  // threads that read ahead
};

constexpr int most_rungs = 3;  // of a Training

/// The tutorial's rungs, each with what the one before has, and then ours. Those above half precision
/// go on in it where it is faster.
inline const std::vector<Training> trainings{
    {"padded",
     baseline<1>,
     {{"baseline", 1, 1, batch, true},
      {"baseline, 5 beams", 0, 0, batch, true, baseline<5>},
      {"skip generation, larger eval batch", 1.07, 1, 2 * batch}}},
    {"dynamic", of<Full, Global1024>, {{"dynamic batching", 2.08, 2.00}}},
    {"batchsort", of<Batchsort, Global64>, {{"dynamic batching, batchsort"}}},
    {"bf16", of<Full, Global1024, Bf16>, {{"half precision", 2.87, 2.73}}},
    {"larger", in_the_faster<Larger, Global1024>, {{"larger batch", 3.59, 3.45}}},
    {"background",
     in_the_faster<Larger, Global1024>,
     {{"background preprocessing", 4.15, 4.02}},
     1},
    {"ranks",
     in_the_faster<Larger, Global1024, Ddp<{.ranks = ranks}>>,
     {{"2 ranks; the tutorial: 4 GPUs", 9.54, 9.19}},
     1},
    {"packed fp32", of<Packed, Global64>, {{"beyond: packed, fp32"}}, 1},
    {"packed tf32",
     of<Packed, Global64, Tf32>,
     {{"beyond: packed, matrix units for fp32 (Tf32)"}},
     1},
    {"packed bf16", of<Packed, Global64, Bf16>, {{"beyond: packed, half precision"}}, 1},
    {"packed lengths",
     in_the_faster<Packed, Global64, LengthWarmup<>>,
     {{"beyond: packed, length warm-up over half"}},
     1},
};

}  // namespace sinter::detail::bench::ladder
