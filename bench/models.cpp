// SPDX-License-Identifier: Apache-2.0
// What does a training step of a model from Hugging Face's list cost, beside the class of
// transformers, eager, with its fastest attention and fused AdamW? BERT 256 wide learns the classes
// of sentences. Ours computes real tokens alone; the peer pads each batch to its longest sentence.
// Both have the same weights, take the same batches in turns, and clip. A row whose losses differ
// by more than 1e-3 is void.
//   ./sinter bench models --data FILE --tokenizer PATH --peers PYTHON|new [--rounds N]
//                         [--threads N] [--only random|grouped|full] [--json FILE] [--svg FILE]
// FILE is a table of sentences and their classes, 0 or 1, without a line of names, such as that of
// SST-2; PATH is BERT's vocab.txt. The rows: 32 random sentences; 32 of about one length, as
// group_by_length of transformers draws them; 16 sequences of 128 tokens.
#include "models.hpp"

using namespace sinter;

namespace {

/// Sorts each 50 batches by length, the longest first, as LengthGroupedSampler does; takes `count`
/// batches of them, evenly.
std::vector<HostBatch> grouped(std::vector<bench::Sentence> sentences, std::size_t count) {
  std::ranges::stable_sort(sentences, std::greater<>{},
                           [](const bench::Sentence& one) { return one.ids.size(); });
  const std::vector<HostBatch> all = bench::batches_of(sentences, 32);
  std::vector<HostBatch> some;
  for (std::size_t k = 0; k < count; ++k)
    some.push_back(all[(2 * k + 1) * all.size() / (2 * count)]);
  std::ranges::shuffle(some, std::mt19937(1));
  return some;
}

bench::Row row(const std::string& name, const std::vector<HostBatch>& batches,
               const bench::Settings& settings) {
  const auto folder = settings.folder / name;
  TrainerCore trainer = bench::make_trainer<bench::bert>({.seed = 1, .threads = settings.threads});
  bench::write_job(trainer, "BertForSequenceClassification", batches, settings, folder);
  const bench::Both both = bench::beside_transformers(
      "train", batches, settings, folder,
      [&](const HostBatch& batch) { return std::get<Applied>(trainer.step(batch)).loss.mean(); });
  std::int64_t real = 0, computed = 0;
  for (std::size_t k = 1; k < batches.size(); ++k) {
    real += batches[k].rows();
    std::int32_t most = 0;
    for (int s = 0; s < batches[k].sequences(); ++s)
      most =
          std::max(most, batches[k].starts[std::size_t(s) + 1] - batches[k].starts[std::size_t(s)]);
    computed += std::int64_t(most) * batches[k].sequences();
  }
  const double ours = std::accumulate(both.ours.begin(), both.ours.end(), 0.0);
  const double peer = std::accumulate(both.peer.begin(), both.peer.end(), 0.0);
  char more[128];
  std::snprintf(more, sizeof more, "%.1f %% padding in the peer's; ms/step: ",
                100 * (1 - double(real) / double(computed)));
  return {"BERT, " + name,           1e3 * ours / double(real),
          1e3 * peer / double(real), "transformers, eager, fused AdamW",
          "µs/real token",           both.apart,
          both.apart < 1e-3,         more + bench::least_to_most(both.ours, both.peer)};
}

}  // namespace

int main(int argc, char** argv) try {
  std::string data, tokenizer;
  const bench::Settings settings(
      "A training step of a model against that of transformers.", argc, argv, 24,
      [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Sentences and their classes")->required();
        line.add_option("--tokenizer", tokenizer, "BERT's vocab.txt")->required();
      });
  if (settings.python.empty()) throw Error("Name a Python with transformers: --peers PYTHON|new.");
  const std::size_t count = std::size_t(settings.rounds) + 1;
  const auto sentences =
      bench::read_sentences(data, tokenizer, std::max<std::size_t>(50, count) * 32);
  bench::Report report(settings);
  const auto batches = [&](std::size_t size, const std::vector<bench::Sentence>& of) {
    auto all = bench::batches_of(of, size);
    all.resize(std::min(all.size(), count));
    return all;
  };
  if (settings.wants("random"))
    report.print({row("random batches", batches(32, sentences), settings)});
  if (settings.wants("grouped"))
    report.print({row("grouped by length",
                      grouped({sentences.begin(), sentences.begin() + 50 * 32}, count), settings)});
  if (settings.wants("full"))
    report.print({row("full length", batches(16, bench::full_length(sentences)), settings)});
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
