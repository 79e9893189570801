// SPDX-License-Identifier: Apache-2.0
// What do the texts cost that evaluations write? A small encoder-decoder learns replies for a while.
// Then it is evaluated on held-out examples without texts, with greedy ones, and with those of four
// beams, in turns. Times are those of the processor, of all threads.
//   ./sinter bench evaluation_texts --data FILE [--examples N] [--steps N] [--rounds N]
//                                   [--threads N] [--json FILE] [--svg FILE]
// FILE has dialogues as JSON lines, as DialoguePairs reads them. Tokens are those of a tokenizer of
// 4,094 tokens that is trained on FILE. A reply has 16 tokens at most, about as many as examples of
// dialogues have. A row is void if the losses of both differ. "tokens" is how many each reply has, and
// how many the example's has.
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

#include "data/examples/example_formats.hpp"
#include "recipes.hpp"
#include "report.hpp"
#include "sinter/data/tokenizer/train.hpp"
#include "sinter/files/decompress.hpp"
#include "sinter/trainer/evaluation.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

constexpr int vocabulary = 4096, text = 128, label = 64, history = 2, most = 16;
template <int Beams>
struct replies
    : Recipe<Seq2Seq<{.encoder_layers = 4,
                      .decoder_layers = 4,
                      .heads = 4,
                      .width = 256,
                      .hidden = 1024,
                      .vocabulary = vocabulary,
                      .positions = text,
                      .dropout = 0}>,
             DialoguePairs<{
                 .text = text, .label = label, .history = history, .vocabulary = vocabulary}>,
             AdamW<{.lr = 1e-3, .weight_decay = 0.1}>, Batch<{.global = 64, .micro = 16}>,
             Metrics<Bleu, RougeL, GeneratedLength>,
             Evaluate<{.tokens = most, .rows = 256, .beams = Beams}>> {};

struct Way {
  std::string name;
  std::unique_ptr<TrainerCore> trainer;
  std::vector<double> seconds{};
  Evaluation found{};
};

template <int Beams>
Way way(std::string name, int threads, bool skips = false) {
  const std::shared_ptr<RecipeView> view = Trainer<replies<Beams>>::options();
  view->skips_generation = skips;
  return {std::move(name),
          std::make_unique<TrainerCore>(view, TrainerSettings{.seed = 1, .threads = threads})};
}

Tokenizer tokenizer_of(const std::string& path) {
  const fs::path folder = fs::temp_directory_path() / ("sinter-bench-" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "tokenizer.json")
      << train_tokenizer(DataFiles({path}), {.size = vocabulary - 2}).json;
  Tokenizer tokenizer = load_tokenizer(folder);
  fs::remove_all(folder);
  return tokenizer;
}

std::shared_ptr<PairedExamples> read(const std::string& path) {
  auto set = std::make_shared<PairedExamples>(
      tokenizer_of(path), PairedForm{.text = text, .label = label, .history = history});
  dialogue_format().read(
      read_decompressed(path, std::uint64_t(1) << 32),
      [&](std::int64_t, const ReadTexts& texts) { set->add_dialogue(texts().turns); });
  return set;
}

void take_turn(Way& way, const std::shared_ptr<PairedExamples>& set, int examples) {
  AnySource source(EvaluationExamples(*set, {0, examples}, way.trainer->plan().evaluation_micro),
                   set);
  const std::clock_t begin = std::clock();
  way.found = *evaluate_all(*way.trainer, source);
  way.seconds.push_back(double(std::clock() - begin) / CLOCKS_PER_SEC);
}

bench::Row row(const Way& way, const Way& without, double label_tokens) {
  char more[96];
  std::snprintf(more, sizeof more, "%.1f tokens, %.1f of examples; BLEU %.2f",
                way.found.metrics[2].value, label_tokens, way.found.metrics[0].value);
  const double apart = std::abs(way.found.loss.mean() - without.found.loss.mean());
  return {way.name,
          bench::median(way.seconds),
          bench::median(without.seconds),
          "without texts",
          "s of processors",
          apart,
          apart == 0,
          more};
}

int run_bench(int argc, char** argv) {
  std::string data;
  int examples = 1000, steps = 100, rounds = 5;
  bench::CommandLine line("What the texts cost that evaluations write.");
  line.add_option("--data", data, "Dialogues, as JSON lines")->required();
  line.add_count("--examples", examples, "That each evaluation has");
  line.add_count("--steps", steps, "Of training before");
  line.add_count("--rounds", rounds, "Turns that each evaluation takes");
  line.read(argc, argv);
  const std::shared_ptr<PairedExamples> set = read(data);
  if (set->size() < examples + 64)
    throw Error("These are " + std::to_string(set->size()) +
                " examples, too few. Give a larger file, or a smaller --examples.");
  std::vector<Way> ways;
  ways.push_back(way<1>("without", line.threads, true));
  ways.push_back(way<1>("greedy", line.threads));
  ways.push_back(way<4>("four beams", line.threads));
  TrainerCore& learns = *ways.front().trainer;
  ExampleBatches source(*set, {examples, set->size() - examples}, {.sequences = 64});
  HostBatch batch;
  for (int step = 0; step < steps; ++step) {
    source.next(batch);
    (void)learns.step(batch);
  }
  for (std::size_t k = 1; k < ways.size(); ++k)
    for (const Parameter& p : learns.parameters())
      ways[k].trainer->set_parameter(p.name, learns.parameter(p.name));
  for (Way& each : ways) take_turn(each, set, examples);  // a round that is not counted
  for (Way& each : ways) each.seconds.clear();
  for (int round = 0; round < rounds; ++round)
    for (Way& each : ways) take_turn(each, set, examples);
  double label_tokens = 0;
  for (int k = 0; k < examples; ++k) label_tokens += set->rows(k);
  bench::Report report(line);
  std::vector<bench::Row> rows;
  for (std::size_t k = 1; k < ways.size(); ++k)
    rows.push_back(row(ways[k], ways.front(), label_tokens / examples));
  report.print(rows);
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
