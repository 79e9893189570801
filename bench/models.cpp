// SPDX-License-Identifier: Apache-2.0
// What does a training step of a model from Hugging Face's list cost, beside the class of
// transformers, eager, with its fastest attention and fused AdamW? BERT 256 wide learns the classes
// of sentences, and an encoder-decoder 256 wide, of Marian's shape, replies in dialogues. Ours computes
// real tokens alone; the peer pads each batch to its longest sequence. Both have the same weights, take
// the same batches in turns, and clip. A row whose losses differ by more than 1e-3 is void.
//   ./sinter bench models --data FILE --dialogues FILE --tokenizer PATH --peers PYTHON|new
//                         [--rounds N] [--threads N] [--json FILE] [--svg FILE]
//                         [--only random|grouped|full|bert|marian]
// The first FILE is a table of sentences and their classes, 0 or 1, without a line of names, such as
// that of SST-2; the second has dialogues as JSON lines; PATH is BERT's vocab.txt. The rows: 32 random
// examples; 32 of about one length, as group_by_length of transformers draws them; 16 sequences of 128
// tokens, on both sides of the encoder-decoder.
#include "models.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using Batches = std::vector<HostBatch>;

/// Sorts each 50 batches by the length of what is read, the longest first, as LengthGroupedSampler
/// does; takes `count` batches of them, evenly.
Batches grouped(const bench::Subject& subject, std::vector<bench::Example> examples,
                std::size_t count) {
  std::ranges::stable_sort(examples, std::greater<>{},
                           [](const bench::Example& one) { return one[0].size(); });
  const Batches all = bench::batches_of(subject, examples, 32);
  Batches some;
  for (std::size_t k = 0; k < count; ++k)
    some.push_back(all[(2 * k + 1) * all.size() / (2 * count)]);
  std::ranges::shuffle(some, std::mt19937(1));
  return some;
}

bench::Row row(const bench::Subject& subject, const std::string& name, const Batches& batches,
               const bench::Settings& settings) {
  const auto folder = settings.folder / (subject.name + " " + name);
  TrainerCore trainer = subject.trainer({.seed = 1, .threads = settings.threads});
  bench::write_job(trainer, subject, batches, settings, folder);
  const bench::Both both = bench::beside_transformers(
      "train", batches, settings, folder,
      [&](const HostBatch& batch) { return std::get<Applied>(trainer.step(batch)).loss.mean(); });
  bench::Rows rows;
  for (std::size_t k = 1; k < batches.size(); ++k) {
    const bench::Rows some = bench::rows_of(batches[k]);
    rows.real += some.real;
    rows.padded += some.padded;
  }
  const double ours = std::accumulate(both.ours.begin(), both.ours.end(), 0.0);
  const double peer = std::accumulate(both.peer.begin(), both.peer.end(), 0.0);
  char more[128];
  std::snprintf(more, sizeof more, "%.1f %% padding in the peer's; ms/step: ",
                100 * (1 - double(rows.real) / double(rows.padded)));
  return {subject.name + ", " + name,
          1e3 * ours / double(rows.real),
          1e3 * peer / double(rows.real),
          "transformers, eager, fused AdamW",
          "µs/real token",
          both.apart,
          both.apart < 1e-3,
          more + bench::least_to_most(both.ours, both.peer)};
}

/// The rows of a model.
void measure(const bench::Subject& subject, const std::string& word, const std::string& file,
             const std::string& tokenizer, const bench::Settings& settings, bench::Report& report) {
  const std::size_t count = std::size_t(settings.rounds) + 1;
  const auto examples =
      bench::read_examples(subject, file, tokenizer, std::max<std::size_t>(50, count) * 32);
  const auto some = [&](std::size_t size, const std::vector<bench::Example>& of) {
    Batches all = bench::batches_of(subject, of, size);
    all.resize(std::min(all.size(), count));
    return all;
  };
  const auto wants = [&](const char* kind) { return settings.wants(word) || settings.wants(kind); };
  if (wants("random")) report.print({row(subject, "random batches", some(32, examples), settings)});
  if (wants("grouped"))
    report.print(
        {row(subject, "grouped by length",
             grouped(subject, {examples.begin(), examples.begin() + 50 * 32}, count), settings)});
  if (wants("full"))
    report.print(
        {row(subject, "full length", some(16, bench::full_length(subject, examples)), settings)});
}

}  // namespace

int main(int argc, char** argv) try {
  std::string data, dialogues, tokenizer;
  const bench::Settings settings(
      "A training step of a model against that of transformers.", argc, argv, 24,
      [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Sentences and their classes")->required();
        line.add_option("--dialogues", dialogues, "Dialogues as JSON lines")->required();
        line.add_option("--tokenizer", tokenizer, "BERT's vocab.txt")->required();
      });
  if (settings.python.empty()) throw Error("Name a Python with transformers: --peers PYTHON|new.");
  bench::Report report(settings);
  measure(bench::of_sentences, "bert", data, tokenizer, settings, report);
  measure(bench::of_replies, "marian", dialogues, tokenizer, settings, report);
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
