// SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's classes on real sentences, beside those classes themselves.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "contest.hpp"
#include "recipes.hpp"

namespace sinter::bench {

constexpr int longest = 128;  // tokens of a sentence
constexpr double lr = 1e-4, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;

using Sentences =
    LabelledText<"2", "1", "", {.context = longest, .vocabulary = 30522, .header = false}>;

/// BERT 256 wide, on sentences of two classes.
struct bert : Recipe<Bert<{.layers = 4,
                           .heads = 4,
                           .width = 256,
                           .hidden = 1024,
                           .positions = longest,
                           .labels = 2,
                           .dropout = 0}>,
                     Sentences, AdamW<{.lr = lr, .weight_decay = weight_decay}>,
                     ClipNorm<{.max = max_norm}>, Batch<{.global = 32, .micro = 32}>> {};

struct Sentence {
  std::vector<std::int32_t> ids;
  std::int32_t label;
};

/// The first `count` sentences, in an order of its own, of a table of sentences and their classes.
inline std::vector<Sentence> read_sentences(const std::string& table, const std::string& tokenizer,
                                            std::size_t count) {
  DataRequest request{.paths = {table}, .tokenizer = tokenizer};
  request.training = {.seed = 1, .sequences = 32, .batching = Packed::batching(32)};
  OpenedData data = Sentences::open(Sentences::options, request);
  std::vector<Sentence> sentences;
  HostBatch batch;
  while (sentences.size() < count) {
    data.training->next(batch);
    for (int s = 0; s < batch.sequences(); ++s) {
      const auto begin = batch.ids[0].begin();
      sentences.push_back(
          {{begin + batch.starts[std::size_t(s)], begin + batch.starts[std::size_t(s) + 1]},
           batch.ids[1][std::size_t(s)]});
    }
  }
  return sentences;
}

/// Batches of `size` sentences, in their order.
inline std::vector<HostBatch> batches_of(const std::vector<Sentence>& sentences, std::size_t size) {
  std::vector<HostBatch> batches;
  for (std::size_t first = 0; first + size <= sentences.size(); first += size) {
    HostBatch& batch = batches.emplace_back();
    batch.ids.resize(2);
    for (std::size_t s = first; s < first + size; ++s) {
      const Sentence& one = sentences[s];
      batch.ids[0].insert(batch.ids[0].end(), one.ids.begin(), one.ids.end());
      batch.ids[1].push_back(one.label);
      batch.starts.push_back(std::int32_t(batch.ids[0].size()));
    }
  }
  return batches;
}

/// Sentences joined to sequences of `longest` tokens each.
inline std::vector<Sentence> full_length(const std::vector<Sentence>& sentences) {
  std::vector<Sentence> joined;
  Sentence next;
  for (const Sentence& one : sentences)
    for (std::int32_t id : one.ids) {
      next.ids.push_back(id);
      if (next.ids.size() < std::size_t(longest)) continue;
      next.label = one.label;
      joined.push_back(std::move(next));
      next.ids.clear();
    }
  return joined;
}

/// Writes what peers/transformers_model.py reads: weights, batches, and how to train.
inline void write_job(const TrainerCore& trainer, const std::string& model,
                      const std::vector<HostBatch>& batches, const Settings& settings,
                      const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  trainer.export_to(folder / "weights");
  std::ofstream(folder / "job.json")
      << nlohmann::json{{"class", model},       {"lr", lr},
                        {"beta2", beta2},       {"weight_decay", weight_decay},
                        {"max_norm", max_norm}, {"sequences", batches.at(0).sequences()},
                        {"steps", 1},           {"threads", settings.threads}};
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      lengths(folder / "lengths.bin", std::ios::binary),
      labels(folder / "labels.bin", std::ios::binary);
  for (const HostBatch& batch : batches) {
    append(ids, batch.ids[0]);
    append(labels, batch.ids[1]);
    for (int s = 0; s < batch.sequences(); ++s)
      append(lengths, {batch.starts[std::size_t(s) + 1] - batch.starts[std::size_t(s)]});
  }
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

}  // namespace sinter::bench
