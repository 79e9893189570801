// SPDX-License-Identifier: Apache-2.0
// What do the ways to batch examples of different lengths cost? A decoder 128 wide learns replies,
// and each way takes an epoch of the same examples, in turns: the one that has trained on the fewest
// takes the next step. Before, each has evaluated all examples with the same weights; a row whose
// loss per token differs by more than 1e-5 is void.
//   ./sinter bench batching --data FILE [--every N] [--history N] [--threads N] [--json FILE]
//                           [--svg FILE]
// FILE has dialogues as JSON lines, as Dialogue reads them. Batches are of 64 examples, but for
// DynamicBatch, whose budget is 64 × (256 + 256) tokens.
#include <chrono>
#include <cmath>
#include <memory>
#include <sinter/sinter.hpp>

#include "command_line.hpp"
#include "data/example_formats.hpp"
#include "report.hpp"
#include "sinter/files/io.hpp"

using namespace sinter;

namespace {

constexpr int limit = 256, usual_batch = 64, largest_batch = 1024;
struct replies
    : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 128, .vocabulary = 258, .positions = 512}>,
             Dialogue<{.text = limit, .label = limit}>, AdamW<{.lr = 1e-3}>,
             Batch<{.global = largest_batch, .micro = 16}>> {};

/// Every `every`-th dialogue of a file.
ExampleSet read(const std::string& path, int every, int history) {
  ExampleSet set(byte_tokenizer(), {limit, limit, history});
  dialogue_format().read(read_file(path, std::uint64_t(1) << 32),
                         [&](std::int64_t line, const ReadTexts& read_texts) {
                           if (line % every == 0) read_texts().add_to(set);
                         });
  if (set.size() < largest_batch)
    throw Error("These are " + std::to_string(set.size()) +
                " examples, fewer than the largest batch. Use a smaller --every.");
  return set;
}

/// One way to batch, with a trainer of its own.
struct Contestant {
  std::string name;
  ExampleBatches source;
  Trainer<replies> trainer;
  Loss loss;
  double seconds = 0;
  std::uint64_t examples = 0;

  Contestant(std::string n, const ExampleSet& set, ExampleRange range, int sequences,
             const Batching& batching, int threads)
      : name(std::move(n)),
        source(set, range, {.sequences = sequences, .seed = 1, .batching = batching}),
        trainer({.seed = 1, .threads = threads}) {}

  /// Evaluates the examples, each once.
  void evaluate(std::uint64_t count) {
    const SamplerState begin = source.state();
    HostBatch batch;
    for (std::uint64_t done = 0; done < count; done += std::uint64_t(batch.sequences())) {
      source.next(batch);
      loss += trainer.evaluate(batch);
    }
    source.restore(begin);
  }
  void step() {
    HostBatch batch;
    source.next(batch);
    const auto begin = std::chrono::steady_clock::now();
    (void)trainer.step(batch);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    examples += std::uint64_t(batch.sequences());
  }
  double milliseconds() const { return 1e3 * seconds / double(examples); }
};

bench::Row row(const Contestant& one, const Contestant& padded) {
  const double apart = std::abs(one.loss.mean() - padded.loss.mean());
  char text[120];
  std::snprintf(text, sizeof text, "%.0f examples/s, %.1f %% padding, loss %.6f per token",
                double(one.examples) / one.seconds, 100 * one.source.padding(), one.loss.mean());
  return {one.name,
          one.milliseconds(),
          padded.milliseconds(),
          padded.name,
          "ms/example",
          apart,
          apart < 1e-5 && one.loss.count == padded.loss.count,
          text};
}

}  // namespace

int main(int argc, char** argv) try {
  bench::CommandLine line("What ways to batch examples of different lengths cost.");
  std::string data;
  int every = 100, history = 2;
  line.add_option("--data", data, "Dialogues, as JSON lines")->required();
  line.add_count("--every", every, "Takes every N-th dialogue alone");
  line.add_count("--history", history, "Turns that are replied to at most");
  line.read(argc, argv);
  ExampleSet set = read(data, every, history);
  const auto count = std::uint64_t(set.size() / usual_batch * usual_batch);
  bench::Report report(line);
  std::printf("%llu examples of %lld dialogues\n", static_cast<unsigned long long>(count),
              static_cast<long long>(set.records()));
  const ExampleRange all{0, std::int64_t(count)};
  std::vector<std::unique_ptr<Contestant>> contestants;
  auto add = [&](const char* name, int sequences, const Batching& batching) {
    contestants.push_back(
        std::make_unique<Contestant>(name, set, all, sequences, batching, line.threads));
    contestants.back()->evaluate(count);
  };
  add("Padded", usual_batch, Padded::batching(usual_batch));
  add("LengthGrouped", usual_batch, LengthGrouped::batching(usual_batch));
  add("DynamicBatch", largest_batch, DynamicBatch<>::batching({}, largest_batch));
  add("DynamicBatch, batchsort", usual_batch,
      DynamicBatch<>::batching({.mode = DynamicMode::batchsort}, usual_batch));
  add("Packed", usual_batch, Packed::batching(usual_batch));
  auto done = [](const auto& one) { return one->examples; };
  while ((*std::ranges::min_element(contestants, {}, done))->examples < count)
    (*std::ranges::min_element(contestants, {}, done))->step();
  std::vector<bench::Row> rows;
  for (const auto& one : contestants) rows.push_back(row(*one, *contestants.front()));
  report.print(rows);
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
