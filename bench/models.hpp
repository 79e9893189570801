// SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's classes on real sentences and dialogues, beside those classes themselves.
#pragma once
#include <algorithm>
#include <numeric>
#include <random>

#include "contest.hpp"
#include "recipes.hpp"
#include "transformers_job.hpp"

namespace sinter::detail::bench {

constexpr int longest = 128;  // tokens of a sentence, of a text and of a reply
constexpr int vocabulary = 30522;
constexpr double lr = 1e-4, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;

using Sentences =
    LabelledText<"2", "1", "", {.context = longest, .vocabulary = vocabulary, .header = false}>;
using Replies = DialoguePairs<{.text = longest, .label = longest, .vocabulary = vocabulary}>;
using Optimizer = AdamW<{.lr = lr, .weight_decay = weight_decay}>;
using Clipping = ClipNorm<{.max = max_norm}>;

/// BERT 256 wide, on sentences of two classes.
struct bert : Recipe<Bert<{.layers = 4,
                           .heads = 4,
                           .width = 256,
                           .hidden = 1024,
                           .positions = longest,
                           .labels = 2,
                           .dropout = 0}>,
                     Sentences, Optimizer, Clipping, Batch<{.global = 32, .micro = 32}>> {};
/// An encoder-decoder 256 wide of Marian's shape, on dialogues.
struct seq2seq : Recipe<Seq2Seq<{.encoder_layers = 4,
                                 .decoder_layers = 4,
                                 .heads = 4,
                                 .width = 256,
                                 .hidden = 1024,
                                 .vocabulary = vocabulary,
                                 .positions = longest,
                                 .position = Positions::sinusoidal,
                                 .activation = Activation::relu,
                                 .scale_embedding = true,
                                 .dropout = 0,
                                 .pad = 0}>,
                        Replies, Optimizer, Clipping, Batch<{.global = 32, .micro = 32}>> {};

/// One sequence of a batch: its part of each input.
using Example = std::vector<std::vector<std::int32_t>>;

/// A model of transformers, and the data that it learns.
struct Subject {
  std::string name, model;  ///< of rows, and the class
  std::vector<int> axes;    ///< of the inputs; pooled(0) for a label of each sequence
  TrainerCore (*trainer)(TrainerSettings);
  OpenedData (*open)(const DataRequest&);
};
inline const Subject of_sentences{
    "BERT",
    "BertForSequenceClassification",
    {0, pooled(0)},
    make_trainer<bert>,
    [](const DataRequest& request) { return Sentences::open(Sentences::options, request); }};
inline const Subject of_replies{
    "Marian", "MarianMTModel", {1, 0, 0}, make_trainer<seq2seq>, [](const DataRequest& request) {
      return Replies::open(Replies::options, request);
    }};

/// Where sequence s begins in an input.
inline std::size_t begin_of(const HostBatch& batch, int axis, int s) {
  return std::size_t(axis < token_axes ? batch.starts_of(axis)[std::size_t(s)] : s);
}

/// The first `count` examples of a file, in an order of its own.
inline std::vector<Example> read_examples(const Subject& subject, const std::string& file,
                                          const std::string& tokenizer, std::size_t count) {
  DataRequest request{.paths = {file}, .tokenizer = tokenizer};
  request.training = {.seed = 1, .sequences = 32, .batching = Packed::batching(32)};
  OpenedData data = subject.open(request);
  std::vector<Example> examples;
  HostBatch batch;
  while (examples.size() < count) {
    data.training->next(batch);
    for (int s = 0; s < batch.sequences(); ++s) {
      Example& one = examples.emplace_back();
      for (std::size_t k = 0; k < subject.axes.size(); ++k) {
        const auto ids = batch.ids[k].begin();
        one.emplace_back(ids + long(begin_of(batch, subject.axes[k], s)),
                         ids + long(begin_of(batch, subject.axes[k], s + 1)));
      }
    }
  }
  return examples;
}

/// Batches of `size` examples, in their order.
inline std::vector<HostBatch> batches_of(const Subject& subject,
                                         const std::vector<Example>& examples, std::size_t size) {
  std::vector<HostBatch> batches;
  for (std::size_t first = 0; first + size <= examples.size(); first += size) {
    HostBatch& batch = batches.emplace_back();
    batch.ids.resize(subject.axes.size());
    const bool second = std::ranges::find(subject.axes, 1) != subject.axes.end();
    if (second) batch.second_starts.push_back(0);
    for (std::size_t s = first; s < first + size; ++s) {
      for (std::size_t k = 0; k < subject.axes.size(); ++k)
        batch.ids[k].insert(batch.ids[k].end(), examples[s][k].begin(), examples[s][k].end());
      for (int axis = 0; axis <= int(second); ++axis) {
        const auto input = std::ranges::find(subject.axes, axis) - subject.axes.begin();
        auto& starts = axis == 1 ? batch.second_starts : batch.starts;
        starts.push_back(std::int32_t(batch.ids[std::size_t(input)].size()));
      }
    }
  }
  return batches;
}

/// Examples joined to sequences of `longest` tokens on each axis, with the label of the last.
inline std::vector<Example> full_length(const Subject& subject,
                                        const std::vector<Example>& examples) {
  std::vector<std::vector<std::int32_t>> all(subject.axes.size());
  for (const Example& one : examples)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t times = subject.axes[k] < token_axes ? 1 : one[0].size();
      for (std::size_t t = 0; t < times; ++t)
        all[k].insert(all[k].end(), one[k].begin(), one[k].end());
    }
  std::size_t count = all[0].size();
  for (const auto& input : all) count = std::min(count, input.size());
  std::vector<Example> joined;
  for (std::size_t end = longest; end <= count; end += longest) {
    Example& one = joined.emplace_back();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t rows = subject.axes[k] < token_axes ? longest : 1;
      one.emplace_back(all[k].begin() + long(end - rows), all[k].begin() + long(end));
    }
  }
  return joined;
}

/// Rows of both axes, and what they would be if each sequence were as long as the longest.
struct Rows {
  std::int64_t real = 0, padded = 0;
};
inline Rows rows_of(const HostBatch& batch) {
  Rows rows;
  for (const auto* starts : {&batch.starts, &batch.second_starts}) {
    if (starts->size() < 2) continue;
    const std::vector<std::int32_t> lengths = lengths_of(*starts);
    rows.real += starts->back();
    rows.padded += std::int64_t(std::ranges::max(lengths)) * std::int64_t(lengths.size());
  }
  return rows;
}

/// Writes what peers/transformers_model.py reads: weights, batches, and how to train.
inline void write_job(const TrainerCore& trainer, const Subject& subject,
                      const std::vector<HostBatch>& batches, const Settings& settings,
                      const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  trainer.export_to(folder / "weights");
  write_job(folder, subject.axes, batches,
            {{"class", subject.model},
             {"lr", lr},
             {"beta2", beta2},
             {"max_norm", max_norm},
             {"weight_decay", weight_decay},
             {"steps", 1},
             {"threads", settings.threads}});
}

/// Rounds of ours beside those of a peer, over the same batches; round(batch) takes one of ours and
/// returns what the peer gives as its loss.
inline Both beside_transformers(const std::string& word, const std::vector<HostBatch>& batches,
                                const Settings& settings, const std::filesystem::path& folder,
                                auto&& round) {
  Contestant peer(word, {settings.python, SINTER_BENCH_DIR "/peers/transformers_model.py", word,
                         folder.string()});
  std::size_t next = 0;
  return take_in_turns(int(batches.size()) - 1, peer, [&] {
    const auto begin = std::chrono::steady_clock::now();
    const double loss = round(batches[next++]);
    const auto passed = std::chrono::steady_clock::now() - begin;
    return Round{std::chrono::duration<double, std::milli>(passed).count(), loss};
  });
}

}  // namespace sinter::detail::bench
