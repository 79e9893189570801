// SPDX-License-Identifier: Apache-2.0
// Each architecture in Bf16 under every memory policy: the bits are those of keeping everything.
#include <doctest/doctest.h>

#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/precision/bf16.hpp"
#include "support/batches.hpp"
#include "support/small_models.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::memories_tests {

constexpr int words = small_words, positions = small_positions, labels = small_labels, steps = 12;

/// Mistral's window and Qwen2's biases, with as few heads of keys as there can be.
constexpr LlamaOptions llama{.layers = 3,
                             .heads = 2,
                             .kv_heads = 1,
                             .width = 16,
                             .hidden = 24,
                             .vocabulary = words,
                             .positions = positions,
                             .window = 3,
                             .scaling = RotaryScaling::llama3,
                             .scaling_factor = 2,
                             .original_positions = 4,
                             .qkv_biases = true,
                             .attention_dropout = .1};
constexpr BertOptions bert =
    changed(small_encoder<BertOptions>(3, .1), [](auto& o) { o.pairs = true, o.labels = labels; });
constexpr auto distilbert = small_encoder<DistilBertOptions>(3, .1);
constexpr auto roberta = small_encoder<RobertaOptions>(3, .1);
constexpr Gpt2Options gpt2{.layers = 3,
                           .heads = 2,
                           .width = 16,
                           .vocabulary = words,
                           .positions = positions,
                           .dropout = .1};

/// Blenderbot's norms, and a dropout of each kind.
constexpr Seq2SeqOptions seq2seq{.encoder_layers = 2,
                                 .decoder_layers = 3,
                                 .heads = 2,
                                 .width = 16,
                                 .hidden = 24,
                                 .vocabulary = words,
                                 .positions = positions,
                                 .encoder_norm = EmbeddingNorm::after_positions,
                                 .decoder_norm = EmbeddingNorm::before_positions,
                                 .scale_embedding = true,
                                 .dropout = .1,
                                 .attention_dropout = .1,
                                 .activation_dropout = .1};

template <class Model, class Memory>
using Narrow = Made<Model, UpToBoth<positions, positions, words>, Batch<{.global = 6, .micro = 2}>,
                    AdamW<{.lr = 1e-2}>, Bf16, Memory>;

/// What a batch has beside tokens and their targets.
enum class With { nothing, types_and_classes, texts };

HostBatch batch_of(int step, With with) {
  const std::vector<int> lengths{7, 3, 8, 1, 5, 2};
  HostBatch batch = token_batch(lengths, words, std::uint64_t(10 * step), .2);
  if (with == With::nothing) return batch;
  if (with == With::texts) {
    HostBatch texts = token_batch({2, 8, 1, 5, 7, 3}, words, std::uint64_t(10 * step + 5), .2);
    batch.second_starts = texts.starts;
    batch.ids.insert(batch.ids.begin(), texts.ids[0]);
    return batch;
  }
  batch.ids[1].clear();
  batch.ids.emplace_back();
  for (int s = 0; s < batch.sequences(); ++s) {
    const int length = lengths[std::size_t(s)];
    for (int row = 0; row < length; ++row) batch.ids[1].push_back(2 * row >= length);
    batch.ids[2].push_back((s + step) % labels);
  }
  return batch;
}

/// What a run of a few steps leaves: its losses, and all parameters.
struct Run {
  std::vector<double> losses;
  NamedNumbers parameters;
  bool operator==(const Run&) const = default;
};
template <class R>
Run run(With with) {
  Trainer<R> trainer({.seed = 5, .threads = 1});
  Run run;
  for (int step = 0; step < steps; ++step)
    run.losses.push_back(applied(trainer, batch_of(step % 2, with)).loss.mean());
  run.parameters = parameters_of(trainer);
  return run;
}

template <class Model>
void check(With with) {
  const Run want = run<Narrow<Model, KeepAll>>(with);
  CHECK(want.losses.back() < .95 * want.losses.front());
  CHECK(run<Narrow<Model, Checkpoint<{.policy = selective}>>>(with) == want);
  CHECK(run<Narrow<Model, Checkpoint<{.policy = selective, .every = 2}>>>(with) == want);
  CHECK(run<Narrow<Model, Checkpoint<{.policy = full}>>>(with) == want);
  CHECK(run<Narrow<Model, Checkpoint<{.every = 2}>>>(with) == want);
}

TEST_CASE("Gpt2 in Bf16 has the same bits under every memory policy") {
  check<Gpt2<gpt2>>(With::nothing);
}
TEST_CASE("Llama in Bf16 has the same bits under every memory policy") {
  check<Llama<llama>>(With::nothing);
}
TEST_CASE("Bert in Bf16 has the same bits under every memory policy") {
  check<Bert<bert>>(With::types_and_classes);
}
TEST_CASE("DistilBert in Bf16 has the same bits under every memory policy") {
  check<DistilBert<distilbert>>(With::nothing);
}
TEST_CASE("Roberta in Bf16 has the same bits under every memory policy") {
  check<Roberta<roberta>>(With::nothing);
}
TEST_CASE("Seq2Seq in Bf16 has the same bits under every memory policy") {
  check<Seq2Seq<seq2seq>>(With::texts);
}

}  // namespace sinter::detail::testing::memories_tests
