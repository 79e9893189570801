// What the techniques of a single device cost and save: checkpointing, optimizers with less state.
//   ./sinter bench techniques [--threads N] [--rounds N] [--steps N] [--data FILE] [--json FILE]
// Times are taken in turns. The validation loss is after `steps` steps (default 500) on the first
// nine tenths of a text, over at most 200,000 bytes of the rest; without --data: our own headers.
#include <chrono>
#include <sinter/sinter.hpp>

#include "report.hpp"
#include "text.hpp"

using namespace sinter;

namespace {

template <int Width, int Heads, int Layers, int Vocabulary, class... Policies>
struct gpt : Recipe<Gpt2<{.layers = Layers,
                          .heads = Heads,
                          .width = Width,
                          .vocabulary = Vocabulary,
                          .positions = 128}>,
                    Bytes<{.context = 128}>, Batch<{.global = 8, .micro = 8}>, Policies...> {};

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

template <class... Policies>
using Timed = gpt<256, 8, 6, 256, Policies...>;

/// Time and planned bytes against keeping everything, of the same steps on the same batches.
template <class... Memory>
std::vector<bench::Row> checkpointing(int threads, int rounds, const std::string& text) {
  const TrainerSettings settings{.seed = 1, .threads = threads};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  ShuffledWindows windows(std::span(bytes, text.size()), {128, 8}, 1);
  std::vector<std::unique_ptr<TrainerCore>> trainers;
  trainers.push_back(std::make_unique<Trainer<Timed<>>>(settings));
  (trainers.push_back(std::make_unique<Trainer<Timed<Memory>>>(settings)), ...);
  std::vector<std::vector<double>> times(trainers.size());
  std::vector<double> losses(trainers.size());
  HostBatch batch;
  for (int round = -2; round < rounds; ++round) {
    windows.next(batch);
    for (std::size_t k = 0; k < trainers.size(); ++k) {
      Outcome outcome;
      const double ms = milliseconds([&] { outcome = trainers[k]->step(batch); });
      losses[k] = std::get<Applied>(outcome).loss.mean();
      if (round >= 0) times[k].push_back(ms);
    }
  }
  std::vector<bench::Row> rows;
  const double plain = bench::median(times[0]);
  for (std::size_t k = 1; k < trainers.size(); ++k) {
    const std::string name = trainers[k]->recipe().policies[7] +
                             (k == 1 ? ", selective" : ", full") + ", GPT 256 wide, 6 layers";
    const double apart = std::abs(losses[k] - losses[0]);
    rows.push_back({name, bench::median(times[k]), plain, "KeepAll", "ms/step", apart, apart == 0});
    rows.push_back({name, double(trainers[k]->plan().memory.total) / (1 << 20),
                    double(trainers[0]->plan().memory.total) / (1 << 20), "KeepAll", "MiB planned",
                    apart, apart == 0});
  }
  return rows;
}

template <class R>
double state_of_parameter() {
  return double(Plan<R>::memory.optimizer) / double(Plan<R>::parameters);
}

template <class Optimizer>
double validation_loss(int threads, int steps, const std::string& text) {
  using R = gpt<128, 4, 4, 256, Optimizer, CosineDecay<{.warmup = 50, .steps = 500}>>;
  Trainer<R> trainer({.seed = 1, .threads = threads});
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t cut = text.size() * 9 / 10;
  ShuffledWindows windows(std::span(bytes, cut), {128, 8}, 1);
  HostBatch batch;
  for (int step = 0; step < steps; ++step) {
    windows.next(batch);
    trainer.step(batch);
  }
  EvaluationWindows rest(std::span(bytes + cut, std::min<std::size_t>(text.size() - cut, 200'000)),
                         {128, 8});
  return trainer.evaluate(rest).mean();
}

template <class Optimizer>
std::vector<bench::Row> optimizer(const char* name, int threads, int steps, const std::string& text,
                                  double plain) {
  const double loss = validation_loss<Optimizer>(threads, steps, text);
  return {{name, state_of_parameter<gpt<512, 8, 6, 4096, Optimizer>>(), 8, "AdamW",
           "bytes of state a parameter, 512 wide", 0, true},
          {name, loss, plain, "AdamW", "validation loss, 128 wide", loss - plain, true}};
}

int run_bench(int argc, char** argv) {
  const auto number = [&](const char* flag, int otherwise) {
    return std::max(1, std::stoi(bench::option(argc, argv, flag, std::to_string(otherwise))));
  };
  const int threads = number("--threads", int(std::thread::hardware_concurrency()));
  const int rounds = number("--rounds", 15), steps = number("--steps", 500);
  const std::string text = bench::read_text(bench::option(argc, argv, "--data", ""));
  bench::Report report(argc, argv, threads);
  report.print(
      checkpointing<Checkpoint<{.policy = selective}>, Checkpoint<>>(threads, rounds, text));
  const double plain = validation_loss<AdamW<{.lr = 2e-3}>>(threads, steps, text);
  report.print(optimizer<AdamW8bit<{.lr = 2e-3}>>("AdamW8bit", threads, steps, text, plain));
  report.print(optimizer<Adafactor<{.lr = 2e-3}>>("Adafactor", threads, steps, text, plain));
  report.print(optimizer<Lion<{.lr = 3e-4}>>("Lion", threads, steps, text, plain));
  report.print(optimizer<Muon<>>("Muon", threads, steps, text, plain));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_bench(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
