// SPDX-License-Identifier: Apache-2.0
// What bench/seeds.cpp trains: rows of tables in documents on faster training, in models so small that
// a processor takes some steps in a second.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipes.hpp"
#include "seeds_formula.hpp"

namespace sinter::detail::bench::seeds {

/// What one process trains.
struct Case {
  std::string name;  ///< of its table and its row
  std::string base;  ///< the name of the case that it is compared with, perhaps itself
  std::shared_ptr<RecipeView> (*view)();
  const PlanView* plan;
  int sequences, ranks;  ///< of a step
  /// What the document says of its memory and its time, as ratios to the base; 0 where it does not.
  double document_memory = 0, document_time = 0;
  std::optional<Work> work{};  ///< how steps of `reduced` are computed
  bool has_peer = false;
};
template <class R>
Case case_of(std::string name, std::string base) {
  return {std::move(name), std::move(base),          [] { return Trainer<R>::options(); },
          &Plan<R>::view,  R::batch::options.global, R::parallel::ranks(R::parallel::options)};
}

/// BERT whose embeddings are a tenth of its parameters. In a step of 4 × 248 tokens, weights, gradients
/// and state take 0.65 of what activations and workspace take. Both are as in BERT large with 4 × 512.
constexpr int context = 248, sequences = 4;
constexpr BertOptions reduced{.layers = 8,
                              .heads = 3,
                              .width = 192,
                              .hidden = 768,
                              .vocabulary = 1792,
                              .positions = context,
                              .labels = 2};
constexpr double lr = 5e-5, max_norm = 1;  // those of Hugging Face's Trainer

template <int Context, int Global, int Micro, class... Policies>
struct bert
    : Recipe<Bert<reduced>, Tokens<Context, reduced.vocabulary>, ClipNorm<{.max = max_norm}>,
             Batch<{.global = Global, .micro = Micro}>, Policies...> {};
template <class... Policies>
using Whole = bert<context, sequences, sequences, Policies...>;
template <class... Policies>
using Accumulating = bert<context, sequences, 1, Policies...>;

using Plain = AdamW<{.lr = lr, .weight_decay = 0}>;
using Factored = Adafactor<{.lr = lr}>;
using Quantized = AdamW8bit<{.lr = lr, .weight_decay = 0}>;

inline const std::string vanilla = "guide: vanilla", accumulation = "guide: accumulation",
                         recomputing = "guide: accumulation, checkpointing",
                         half_precision = "guide: half precision";

/// A row of Hugging Face's guide "Efficient Training on a Single GPU", with its megabytes and seconds.
template <class R>
Case guide_row(std::string name, double megabytes, double seconds, Work work) {
  constexpr double cuda = 1343;  // megabytes that CUDA needs for itself
  Case row = case_of<R>(std::move(name), vanilla);
  row.document_memory = (megabytes - cuda) / (14949 - cuda);
  row.document_time = seconds / 57.82;
  row.work = work;
  row.has_peer = true;
  return row;
}
inline std::vector<Case> guide_rows() {
  constexpr int whole = sequences * context;
  constexpr bool recomputes = true, half = true;
  return {
      guide_row<Whole<Plain>>(vanilla, 14949, 57.82, {whole}),
      guide_row<Accumulating<Plain>>(accumulation, 8681, 66.03, {context}),
      guide_row<Accumulating<Plain, Checkpoint<>>>(recomputing, 6775, 85.47, {context, recomputes}),
      guide_row<Whole<Plain, Bf16>>(half_precision, 13939, 27.46, {whole, false, half}),
      guide_row<Accumulating<Plain, Checkpoint<>, Bf16>>("guide: all three", 7275, 50.76,
                                                         {context, recomputes, half}),
      guide_row<Whole<Factored>>("guide: Adafactor", 12295, 64.31,
                                 {whole, false, false, State::adafactor}),
      guide_row<Accumulating<Factored, Checkpoint<>, Bf16>>(
          "guide: Adafactor, all three", 4847, 56.54,
          {context, recomputes, half, State::adafactor}),
      guide_row<Whole<Quantized>>("guide: AdamW in 8 bits", 13085, 55.95,
                                  {whole, false, false, State::adamw8bit}),
      guide_row<Accumulating<Quantized, Checkpoint<>, Bf16>>(
          "guide: AdamW in 8 bits, all three", 5363, 49.46,
          {context, recomputes, half, State::adamw8bit})};
}

/// Two rows for a batch of so many short sequences, of the table of --fp16 on Hugging Face's performance
/// page. It says that fp16 is twice as fast at all sizes.
template <int Sequences>
void add_batch(std::vector<Case>& cases, double megabytes, double half_megabytes) {
  constexpr int length = 32;
  const std::string name = "batch: " + std::to_string(Sequences);
  cases.push_back(case_of<bert<length, Sequences, Sequences, Plain>>(name, name));
  cases.back().work = {Sequences * length};
  cases.push_back(
      case_of<bert<length, Sequences, Sequences, Plain, Bf16>>(name + ", half precision", name));
  Case& half = cases.back();
  half.work = {Sequences * length, false, true};
  half.document_memory = half_megabytes / megabytes;
  half.document_time = 0.5;
}

template <class... Policies>
struct distilbert
    : Recipe<DistilBert<{.layers = 6,
                         .heads = reduced.heads,
                         .width = reduced.width,
                         .hidden = reduced.hidden,
                         .vocabulary = reduced.vocabulary,
                         .positions = 64,
                         .labels = 2}>,
             Tokens<64, reduced.vocabulary>, Plain, ClipNorm<{.max = max_norm}>, Policies...> {};

/// The notebook's ladder. Ours is always compiled, so that rung repeats the one before.
inline void add_distilbert(std::vector<Case>& cases) {
  using Of8 = Batch<{.global = 8, .micro = 8}>;
  using OnTwo = Batch<{.global = 8, .micro = 4}>;
  const std::string full = "distilbert: fp32", half = "distilbert: half precision";
  cases.push_back(case_of<distilbert<Of8>>(full, full));
  cases.push_back(case_of<distilbert<Of8, Bf16>>(half, full));
  cases.back().document_time = 7.0 / 21;
  cases.push_back(case_of<distilbert<Of8, Bf16>>("distilbert: half, compiled (as always)", half));
  cases.back().document_time = 3.7 / 7;
  cases.push_back(case_of<distilbert<OnTwo, Bf16, Ddp<{.ranks = 2}>>>(
      "distilbert: half, 2 ranks (document: 4)", half));
  cases.back().document_time = 2.5 / 7;
}

/// DP beside DDP, as threads of one process.
inline void add_ranks(std::vector<Case>& cases) {
  const std::string ddp = "ranks: Ddp";
  cases.push_back(
      case_of<bert<context, sequences, sequences / 2, Plain, Ddp<{.ranks = 2}>>>(ddp, ddp));
  cases.push_back(case_of<bert<context, sequences, sequences / 2, Plain, SplitBatch<{.ranks = 2}>>>(
      "ranks: SplitBatch (DP)", ddp));
  cases.back().document_time = 110.0 / 101;
}

/// All cases, each table's together. A base stands before what is compared with it.
inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list = guide_rows();
    add_batch<8>(list, 4247, 4163);
    add_batch<16>(list, 4971, 4793);
    add_batch<32>(list, 6827, 6207);
    add_batch<64>(list, 10037, 8061);
    add_distilbert(list);
    add_ranks(list);
    return list;
  }();
  return all;
}

}  // namespace sinter::detail::bench::seeds
