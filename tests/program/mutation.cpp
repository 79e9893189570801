// SPDX-License-Identifier: Apache-2.0
// Every shipped program with each instruction changed (mutants.hpp).
#include "program/mutants.hpp"
#include "sinter/batch/pad_rows.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/recovery/spike_guard.hpp"

namespace sinter::detail::testing {
namespace {

using Once = Batch<{.global = 2, .micro = 2}>;
using Thrice = Batch<{.global = 3, .micro = 1}>;
using Buckets = Ddp<{.bucket_bytes = 500, .ranks = 2}>;
using Shards = Zero<{.bucket_bytes = 500, .ranks = 2}>;
using AtRoot = SplitBatch<{.ranks = 2}>;
using WeightShards = Zero<{.stage = 3, .bucket_bytes = 500, .ranks = 2}>;
using GradientShards = Zero<{.stage = 2, .bucket_bytes = 500, .ranks = 2}>;
using TwoEach = Batch<{.global = 4, .micro = 1}>;  // two micro-batches on each of two ranks
using Full = Checkpoint<{.policy = full}>;
using Selective = Checkpoint<{.policy = selective}>;
using EachUnit = Offload<{.bucket_bytes = 1}>;
using WeightsToo = Offload<{.weights = true, .bucket_bytes = 1}>;

TEST_CASE("a wrong program computes something else") {
  CHECK(Mutants(Made<Letters, Gpt2<tiny>, Thrice>{}, letters({5, 3, 6})).notices_a_wrong_program());
}

TEST_CASE("mutants of plain programs are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Once>("GPT-2", {5, 3});
  test_mutants<Gpt2<tiny>, Thrice>("GPT-2, three micro-batches", {5, 3, 6});
  test_mutants<Gated, Thrice>("RMS norms and gates, three micro-batches", {5, 3, 6});
  test_mutants<Llama<tiny_llama>, Thrice>("Llama, three micro-batches", {5, 3, 6});
  test_mutants<Fused, Thrice, Fp64>("units with two outputs, three micro-batches, Fp64", {5, 3, 6});
  test_mutants<Bert<tiny_bert>, Thrice>("BERT, three micro-batches", {5, 3, 6});
}

TEST_CASE("mutants of programs of an encoder and a decoder are rejected or harmless") {
  Mutants(Made<Letters, Seq2Seq<tiny_seq2seq>, Thrice>{}, replies({5, 3, 6}, {2, 6, 4}))
      .test("encoder and decoder, three micro-batches");
  Mutants(Made<Letters, Seq2Seq<tiny_seq2seq>, TwoEach, Buckets, Bf16, Full>{},
          replies({5, 3, 6, 2}, {2, 6, 4, 5}))
      .test("encoder and decoder, Ddp, Bf16, full");
}

TEST_CASE("mutants of checkpointed programs are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Once, Full>("GPT-2, full", {5, 3});
  test_mutants<Gpt2<tiny>, Once, Selective>("GPT-2, selective", {5, 3});
  test_mutants<Fused, Thrice, Full>("units with two outputs, three micro-batches, full", {5, 3, 6});
  test_mutants<Fused, Once, Selective>("units with two outputs, selective", {5, 3});
  test_mutants<Llama<tiny_llama>, Once, Bf16, Selective>("Llama, Bf16, selective", {5, 3});
  test_mutants<Gated, Once, Selective>("RMS norms and gates, selective", {5, 3});
  test_mutants<Gated, Thrice, Bf16, Full>("RMS norms and gates, Bf16, full", {5, 3, 6});
}

TEST_CASE("mutants of data-parallel programs are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, Buckets>("GPT-2, Ddp, two micro-batches", {5, 3, 6, 2});
  test_mutants<Gpt2<tiny>, TwoEach, Buckets, Full>("GPT-2, Ddp, two micro-batches, full",
                                                   {5, 3, 6, 2});
  test_mutants<Fused, TwoEach, Buckets, Selective>("units with two outputs, Ddp, selective",
                                                   {5, 3, 6, 2});
}

TEST_CASE("mutants of programs that compress gradients are rejected or harmless") {
  using Narrow = Ddp<{.bucket_bytes = 500, .compression = GradientCompression::bf16}>;
  test_mutants<Gpt2<tiny>, TwoEach, Narrow>("GPT-2, Ddp, bf16, two micro-batches", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs of ranks that have shards are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, Shards>("GPT-2, Zero, two micro-batches", {5, 3, 6, 2});
  test_mutants<Gpt2<tiny>, TwoEach, Shards, Bf16, Average<>>("GPT-2, Zero, Bf16, average",
                                                             {5, 3, 6, 2});
  test_mutants<Fused, TwoEach, Shards, Bf16, Full, PlainDescent>(
      "units with two outputs, Zero, Bf16, cast, full", {5, 3, 6, 2});
  test_mutants<Counting, TwoEach, Shards, Bf16, SpikeGuard<>>("running values, Zero, Bf16, guard",
                                                              {5, 3, 6, 2});
}

TEST_CASE("mutants of programs of ranks that have shards of gradients are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, GradientShards>("GPT-2, Zero 2, two micro-batches",
                                                    {5, 3, 6, 2});
  test_mutants<Fused, TwoEach, GradientShards, Bf16, Full, PlainDescent>(
      "units with two outputs, Zero 2, Bf16, cast, full", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs of ranks that fetch weights are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, WeightShards>("GPT-2, Zero 3, two micro-batches", {5, 3, 6, 2});
  test_mutants<Fused, TwoEach, WeightShards, Bf16, Full, PlainDescent>(
      "units with two outputs, Zero 3, Bf16, cast, full", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs of ranks of which one updates are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, AtRoot>("GPT-2, SplitBatch, two micro-batches", {5, 3, 6, 2});
  test_mutants<Fused, TwoEach, AtRoot, Bf16, Full, PlainDescent>(
      "units with two outputs, SplitBatch, Bf16, cast, full", {5, 3, 6, 2});
  test_mutants<Counting, TwoEach, AtRoot, Bf16, Average<>, SpikeGuard<>>(
      "running values, SplitBatch, Bf16, average, guard", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs that fetch state are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Thrice, EachUnit>("GPT-2, Offload, three micro-batches", {5, 3, 6});
  test_mutants<Fused, Once, Bf16, Full, Sgd<{.momentum = .9}>, EachUnit>(
      "units with two outputs, Offload, Bf16, cast, full", {5, 3});
  test_mutants<Fused, TwoEach, WeightShards, Bf16, EachUnit>(
      "units with two outputs, Offload, Zero 3, Bf16", {5, 3, 6, 2});
  test_mutants<Gpt2<tiny>, TwoEach, AtRoot, Muon<>, Offload<{.bucket_bytes = 2000}>>(
      "GPT-2, Offload, SplitBatch, Muon", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs that fetch masters are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Thrice, WeightsToo>("GPT-2, Offload of weights, three micro-batches",
                                               {5, 3, 6});
  test_mutants<Fused, Once, Bf16, Full, Sgd<>, Average<>, WeightsToo>(
      "units with two outputs, Offload of weights, Bf16, average, full", {5, 3});
  test_mutants<Fused, TwoEach, WeightShards, Bf16, WeightsToo>(
      "units with two outputs, Offload of weights, Zero 3, Bf16", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs with a copy of the weights are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Thrice, Bf16>("GPT-2, Bf16, three micro-batches", {5, 3, 6});
  test_mutants<Fused, Thrice, Bf16, Full, PlainDescent>("units with two outputs, Bf16, cast, full",
                                                        {5, 3, 6});
  test_mutants<Gpt2<tiny>, TwoEach, Buckets, Bf16>("GPT-2, Ddp, Bf16", {5, 3, 6, 2});
}

TEST_CASE("mutants of programs with frozen units are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Once, Muon<>, Freeze<"wte", "wpe", "h.0">>("GPT-2, Muon, half frozen",
                                                                      {5, 3});
}

TEST_CASE("mutants of programs with an average of the weights are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Thrice, Average<>>("GPT-2, average", {5, 3, 6});
  test_mutants<Gpt2<tiny>, TwoEach, Buckets, Bf16, Average<>>("GPT-2, Ddp, Bf16, average",
                                                              {5, 3, 6, 2});
}

TEST_CASE("mutants of programs with a guard against spikes are rejected or harmless") {
  test_mutants<Gpt2<tiny>, TwoEach, Buckets, Bf16, SpikeGuard<>>("GPT-2, Ddp, Bf16, guard",
                                                                 {5, 3, 6, 2});
}

TEST_CASE("mutants of programs with running values are rejected or harmless") {
  test_mutants<Counting, Thrice>("running values, three micro-batches", {5, 3, 6});
  test_mutants<Counting, Thrice, Bf16, Full, Freeze<"h.0">>(
      "running values, Bf16, full, one frozen", {5, 3, 6});
  test_mutants<Counting, TwoEach, Buckets, SpikeGuard<>>("running values, Ddp, guard",
                                                         {5, 3, 6, 2});
}

TEST_CASE("mutants of programs with padded rows and a padded vocabulary are rejected or harmless") {
  constexpr Gpt2Options padded{.layers = 2,
                               .heads = 2,
                               .width = 8,
                               .vocabulary = 11,
                               .positions = 6,
                               .dropout = 0.2,
                               .vocabulary_multiple = 8};
  test_mutants<Gpt2<padded>, Thrice, PadRows<{.multiple = 3}>>("GPT-2, padded", {5, 3, 4});
}

TEST_CASE("mutants of programs that recompute inside some units are rejected or harmless") {
  test_mutants<Gpt2<tiny>, Thrice, Checkpoint<{.policy = selective, .every = 2}>>(
      "GPT-2, selective of every second", {5, 3, 6});
}

TEST_CASE("mutants of a program without ids are rejected or harmless") {
  using Small = Mlp<{.in = 3, .hidden = 8, .out = 2, .layers = 4}>;
  Mutants(Made<Small, Batch<{.global = 8, .micro = 4}>, Sgd<{.momentum = 0.9}>>{}, numbers(8, 3, 2))
      .test("perceptron, SGD with momentum, two micro-batches");
}

}  // namespace
}  // namespace sinter::detail::testing
