// SPDX-License-Identifier: Apache-2.0
// What do the ways to batch examples of different lengths cost? A decoder 128 wide learns replies,
// and each way takes an epoch of the same examples, in turns: the one that has trained on the fewest
// takes the next step. Before, each has evaluated all examples with the same weights; a row whose
// loss per token differs by more than 1e-5 is void.
//   ./sinter bench batching --data FILE [--every N] [--history N] [--tokenizer PATH] [--threads N]
//                           [--peers PYTHON|new [--rounds N]] [--only ways|peers]
//                           [--json FILE] [--svg FILE]
// FILE has dialogues as JSON lines, as Dialogue reads them. Batches are of 64 examples, but for
// DynamicBatch, whose budget is 64 × (256 + 256) tokens. `Padded` computes, and pads to the longest,
// all 64 at once; the others 16 at once, as most recipes do. With --peers, PyTorch eager takes the
// steps of `Padded` on the very same batches, in turns with it; there, losses that differ by more
// than 1e-4 make the row void.
#include <chrono>
#include <cmath>
#include <memory>

#include "contest.hpp"
#include "data/examples/example_formats.hpp"
#include "recipes.hpp"
#include "sinter/files/decompress.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Settings;

constexpr int limit = 256, usual_batch = 64, largest_batch = 1024;
constexpr double lr = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;
template <int Micro, int Vocabulary>
struct replies
    : Recipe<
          Gpt2<{.layers = 4, .heads = 4, .width = 128, .vocabulary = Vocabulary, .positions = 512}>,
          bench::Tokens<512, Vocabulary>,
          AdamW<{.lr = lr, .beta2 = beta2, .weight_decay = weight_decay}>,
          ClipNorm<{.max = max_norm}>, Batch<{.global = largest_batch, .micro = Micro}>> {};

using MakeTrainer = TrainerCore (*)(TrainerSettings);
/// Recipes whose models have so many tokens, by how many examples they compute at once.
struct Recipes {
  int vocabulary;
  MakeTrainer of_16, of_64;
};
template <int Vocabulary>
constexpr Recipes recipes{Vocabulary, bench::make_trainer<replies<16, Vocabulary>>,
                          bench::make_trainer<replies<usual_batch, Vocabulary>>};

struct Task {
  ExampleSet set;
  ExampleRange range;
  Recipes with;
  int threads;
};

Task read(const std::string& path, const std::string& tokenizer, int every, int history,
          int threads) {
  ExampleSet set(tokenizer.empty() ? byte_tokenizer() : load_tokenizer(tokenizer),
                 {limit, limit, history});
  const Recipes with = tokenizer.empty() ? recipes<258> : recipes<4096>;
  if (set.vocabulary() > with.vocabulary)
    throw Error(tokenizer + " makes examples of " + std::to_string(set.vocabulary()) +
                " tokens, and the model takes 4,096 at most. Take a smaller one.");
  dialogue_format().read(read_decompressed(path, std::uint64_t(1) << 32),
                         [&](std::int64_t line, const ReadTexts& read_texts) {
                           if (line % every == 0) read_texts().add_to(set);
                         });
  if (set.size() < largest_batch)
    throw Error("These are " + std::to_string(set.size()) +
                " examples, fewer than the largest batch. Use a smaller --every.");
  const std::int64_t count = set.size() / usual_batch * usual_batch;
  return {std::move(set), {0, count}, with, threads};
}

/// One way to batch, with a trainer of its own.
struct Way {
  std::string name;
  ExampleBatches source;
  TrainerCore trainer;
  Loss loss;
  HostBatch batch;
  double seconds = 0;
  std::int64_t steps = 0, rows = 0, examples = 0;

  Way(std::string n, const Task& work, MakeTrainer make, int sequences, Batching batching)
      : name(std::move(n)),
        source(work.set, work.range,
               {.sequences = sequences, .seed = 1, .batching = std::move(batching)}),
        trainer(make({.seed = 1, .threads = work.threads})) {}

  /// Evaluates the examples, each once.
  void evaluate(std::int64_t count) {
    const SamplerState begin = source.state();
    for (std::int64_t done = 0; done < count; done += batch.sequences()) {
      source.next(batch);
      loss += trainer.evaluate(batch);
    }
    source.restore(begin);
  }
  /// Returns the loss.
  double step() {
    source.next(batch);
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = trainer.step(batch);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++steps;
    rows += batch.rows();
    examples += batch.sequences();
    return std::get<Applied>(outcome).loss.mean();
  }
  double milliseconds() const { return 1e3 * seconds / double(examples); }
};

bench::Row row(const Way& one, const Way& padded) {
  const double apart = std::abs(one.loss.mean() - padded.loss.mean());
  const double rate = double(one.examples) / one.seconds, padding = one.source.padding();
  const double rows_rate = double(one.rows) / one.seconds;
  const double per_step = double(one.examples) / double(one.steps);
  char text[160];
  std::snprintf(text, sizeof text,
                "%.1f examples/s, %.1f %% padding, %.0f rows/s, %.0f examples a step, loss %.6f",
                rate, 100 * padding, rows_rate, per_step, one.loss.mean());
  return {one.name,
          one.milliseconds(),
          padded.milliseconds(),
          padded.name,
          "ms/example",
          apart,
          apart < 1e-5 && one.loss.count == padded.loss.count,
          text,
          {{"padding", padding}, {"rows_per_second", rows_rate}, {"examples_per_step", per_step}}};
}

std::unique_ptr<Way> padded(const Task& work) {
  return std::make_unique<Way>("Padded", work, work.with.of_64, usual_batch,
                               Padded::batching(usual_batch));
}

std::vector<bench::Row> compare(const Task& work) {
  std::vector<std::unique_ptr<Way>> ways;
  ways.push_back(padded(work));
  auto add = [&](const char* name, int sequences, Batching batching, int together = 16) {
    batching.padded_together = together;
    ways.push_back(
        std::make_unique<Way>(name, work, work.with.of_16, sequences, std::move(batching)));
  };
  const Batching dynamic = DynamicBatch<>::batching({}, largest_batch);
  add("Padded, 16 at once", usual_batch, Padded::batching(usual_batch));
  add("LengthGrouped", usual_batch, LengthGrouped::batching(usual_batch));
  add("DynamicBatch", largest_batch, dynamic);
  add("DynamicBatch, all of a batch padded together", largest_batch, dynamic, 0);
  add("DynamicBatch, batchsort", usual_batch,
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort}, usual_batch));
  add("Packed", usual_batch, Packed::batching(usual_batch));
  for (auto& way : ways) way->evaluate(work.range.count);
  auto done = [](const auto& way) { return way->examples; };
  while ((*std::ranges::min_element(ways, {}, done))->examples < work.range.count)
    (*std::ranges::min_element(ways, {}, done))->step();
  std::vector<bench::Row> rows;
  for (const auto& way : ways) rows.push_back(row(*way, *ways.front()));
  return rows;
}

/// Writes the weights, and the batches of the first steps, which a peer in Python reads.
void write_job(const Way& way, const Task& work, int steps, const fs::path& folder) {
  fs::create_directories(folder);
  way.trainer.export_to(folder / "weights");
  std::ofstream(folder / "job.json") << nlohmann::json{{"layers", 4},
                                                       {"heads", 4},
                                                       {"width", 128},
                                                       {"lr", lr},
                                                       {"beta2", beta2},
                                                       {"weight_decay", weight_decay},
                                                       {"sequences", usual_batch},
                                                       {"steps", 1},
                                                       {"threads", work.threads},
                                                       {"packed", false},
                                                       {"max_norm", max_norm}};
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      targets(folder / "targets.bin", std::ios::binary),
      lengths(folder / "lengths.bin", std::ios::binary);
  ExampleBatches source = way.source;
  HostBatch batch;
  for (int step = 0; step < steps; ++step) {
    source.next(batch);
    bench::append(ids, batch.ids[0]);
    bench::append(targets, batch.ids[1]);
    bench::append(lengths, {batch.rows() / usual_batch});
  }
}

/// Steps of Padded beside those of PyTorch, after one of each that is not counted.
bench::Row beside_pytorch(const Task& work, const Settings& settings) {
  const std::unique_ptr<Way> ours = padded(work);
  write_job(*ours, work, 1 + settings.rounds, settings.folder);
  bench::Contestant peer(
      "PyTorch eager, fused AdamW",
      {settings.python, SINTER_BENCH_DIR "/peers/batching.py", "eager", settings.folder.string()});
  const bench::Both both = bench::take_in_turns(settings.rounds, peer, [&] {
    const double before = ours->seconds, loss = ours->step();
    return bench::Round{1e3 * (ours->seconds - before), loss};
  });
  return {"Padded, the same batches",
          bench::median(both.ours) / usual_batch,
          bench::median(both.peer) / usual_batch,
          peer.name,
          "ms/example",
          both.apart,
          both.apart < 1e-4,
          "ms/step: " + bench::least_to_most(both.ours, both.peer)};
}

}  // namespace

int main(int argc, char** argv) try {
  std::string data, tokenizer;
  int every = 100, history = 2;
  const Settings settings(
      "What ways to batch examples of different lengths cost.", argc, argv, 9,
      [&](bench::CommandLine& line) {
        line.add_option("--data", data, "Dialogues, as JSON lines")->required();
        line.add_option("--tokenizer", tokenizer, "Of up to 4094 tokens; without it, bytes");
        line.add_count("--every", every, "Takes every N-th dialogue alone");
        line.add_option("--history", history, "Turns that are replied to at most; 0 for all")
            ->check(CLI::Range(0, 1 << 20));
      });
  const Task work = read(data, tokenizer, every, history, settings.threads);
  bench::Report report(settings);
  const ExampleSet::Figures& figures = work.set.figures();
  std::printf("%lld examples of %lld dialogues, context %.1f tokens, label %.1f\n",
              static_cast<long long>(work.range.count), static_cast<long long>(work.set.records()),
              double(figures.context_tokens) / double(work.set.size()),
              double(figures.label_tokens) / double(work.set.size()));
  if (settings.wants("ways")) report.print(compare(work));
  if (!settings.python.empty() && settings.wants("peers"))
    report.print(std::vector{beside_pytorch(work, settings)});
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
