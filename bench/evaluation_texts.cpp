// SPDX-License-Identifier: Apache-2.0
// What do the texts cost that evaluations write? The encoder-decoder of bench/ladder.cpp learns replies
// for a while. Then it is evaluated on held-out examples without texts, with greedy ones, and with
// those of four beams, in turns. Times are those of the processor, of all threads.
//   ./sinter bench evaluation_texts --data FILE [--examples N] [--steps N] [--history N] [--rounds N]
//                                   [--threads N] [--json FILE] [--svg FILE]
// FILE has dialogues as JSON lines, as DialoguePairs reads them; tokens are those of a tokenizer that
// is trained on it. A reply has 16 tokens at most, about as many as examples of dialogues have. A row
// is void if the losses of both differ.
// "tokens" is how many each reply has, and how many the example's has.
#include <memory>

#include "ladder_run.hpp"
#include "report.hpp"
#include "scratch_folder.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace ladder = sinter::detail::bench::ladder;

namespace {

constexpr int batch = ladder::batch, most = 16;
template <int Beams>
using replies =
    ladder::replies<Batch<{.global = batch, .micro = 16}>, Metrics<Bleu, RougeL, GeneratedLength>,
                    Evaluate<{.tokens = most, .rows = 256, .beams = Beams}>>;

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

ladder::Examples read(const std::string& path, const ladder::Wanted& wanted) {
  const bench::ScratchFolder scratch;
  return ladder::read_examples(path, wanted, scratch.path);
}

void take_turn(Way& way, const ladder::Examples& examples) {
  AnySource source(
      EvaluationExamples(*examples.set, examples.held_out, way.trainer->plan().evaluation_micro),
      examples.set);
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
  int examples = 500, steps = 150, history = 0, rounds = 5;
  bench::CommandLine line("What the texts cost that evaluations write.");
  line.add_option("--data", data, "Dialogues, as JSON lines")->required();
  line.add_count("--examples", examples, "That each evaluation has");
  line.add_count("--steps", steps, "Of training before");
  line.add_option("--history", history, "Turns that are replied to at most; 0 for all")
      ->check(CLI::Range(0, 1 << 20));
  line.add_count("--rounds", rounds, "Turns that each evaluation takes");
  line.read(argc, argv);
  const ladder::Examples set = read(data, {std::int64_t(steps) * batch, examples, history});
  std::vector<Way> ways;
  ways.push_back(way<1>("without", line.threads, true));
  ways.push_back(way<1>("greedy", line.threads));
  ways.push_back(way<4>("four beams", line.threads));
  TrainerCore& learns = *ways.front().trainer;
  ExampleBatches source(*set.set, set.training, {.sequences = batch});
  HostBatch next;
  for (int step = 0; step < steps; ++step) {
    source.next(next);
    (void)learns.step(next);
  }
  for (std::size_t k = 1; k < ways.size(); ++k)
    for (const Parameter& p : learns.parameters())
      ways[k].trainer->set_parameter(p.name, learns.parameter(p.name));
  for (Way& each : ways) take_turn(each, set);  // a round that is not counted
  for (Way& each : ways) each.seconds.clear();
  for (int round = 0; round < rounds; ++round)
    for (Way& each : ways) take_turn(each, set);
  double label_tokens = 0;
  for (int k = 0; k < examples; ++k) label_tokens += double(set.set->rows(set.held_out.first + k));
  bench::Report report(line);
  std::vector<bench::Row> rows;
  for (std::size_t k = 1; k < ways.size(); ++k)
    rows.push_back(row(ways[k], ways.front(), label_tokens / examples));
  report.print(rows);
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
