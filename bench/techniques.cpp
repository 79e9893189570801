// SPDX-License-Identifier: Apache-2.0
// What do the techniques of a single device cost and save? They are checkpointing, smaller
// micro-batches, state and weights in a file, one copy of the weights in a step, rounded inputs of matmuls, and optimizers with
// less state.
//   ./sinter bench techniques [--threads N] [--rounds N] [--steps N] [--data FILE] [--json FILE]
// Times are taken in turns. The validation loss is that after `steps` steps (default 500) on the
// first nine tenths of a text, over at most 200,000 bytes of the rest. Without --data the text is
// that of our own headers.
#include <chrono>
#include <sinter/sinter.hpp>

#include "report.hpp"
#include "text.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

template <int Width, int Heads, int Layers, int Vocabulary, class... Policies>
struct gpt : Recipe<Gpt2<{.layers = Layers,
                          .heads = Heads,
                          .width = Width,
                          .vocabulary = Vocabulary,
                          .positions = 128}>,
                    Bytes<{.context = 128}>, Policies...> {};

double milliseconds(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

template <int Width, int Micro, class... Policies>
using Timed = gpt<Width, 8, 6, 256, Batch<{.global = 8, .micro = Micro}>, Policies...>;

using Trainers = std::vector<std::unique_ptr<TrainerCore>>;

/// The median time of each trainer's steps, and its first and last loss.
struct Turns {
  std::vector<double> ms, first_losses, losses;
};

/// All trainers take the same steps in turns, on the same batches of 8 × 128 bytes.
Turns take_turns(const Trainers& trainers, int rounds, const std::string& text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  ShuffledWindows windows(std::span(bytes, text.size()), {128, 8}, 1);
  std::vector<std::vector<double>> times(trainers.size());
  Turns turns{{}, {}, std::vector<double>(trainers.size())};
  HostBatch batch;
  for (int round = -2; round < rounds; ++round) {
    windows.next(batch);
    for (std::size_t k = 0; k < trainers.size(); ++k) {
      Outcome outcome;
      const double ms = milliseconds([&] { outcome = trainers[k]->step(batch); });
      turns.losses[k] = std::get<Applied>(outcome).loss.mean();
      if (round == -2) turns.first_losses.push_back(turns.losses[k]);
      if (round >= 0) times[k].push_back(ms);
    }
  }
  for (const auto& of_one : times) turns.ms.push_back(bench::median(of_one));
  return turns;
}

/// Compares time and planned bytes with one micro-batch of which everything is kept. Recomputing and
/// fetching change no bit of the loss; another split of the batch rounds its sums differently.
std::vector<bench::Row> less_memory(int threads, int rounds, const std::string& text) {
  const TrainerSettings settings{.seed = 1, .threads = threads};
  Trainers trainers;
  std::vector<std::string> names;
  std::vector<bool> has_bits;  // of the plain one
  auto add = [&]<class R>(std::type_identity<R>, const char* name, bool bits = true) {
    trainers.push_back(std::make_unique<Trainer<R>>(settings));
    names.push_back(name + std::string(", GPT 256 wide, 6 layers"));
    has_bits.push_back(bits);
  };
  add(std::type_identity<Timed<256, 8>>{}, "plain");
  add(std::type_identity<Timed<256, 8, Checkpoint<{.policy = selective}>>>{},
      "Checkpoint, selective");
  add(std::type_identity<Timed<256, 8, Checkpoint<>>>{}, "Checkpoint, full");
  add(std::type_identity<Timed<256, 8, Offload<>>>{}, "Offload");
  add(std::type_identity<Timed<256, 8, Offload<{.weights = true}>>>{}, "Offload, weights, too");
  add(std::type_identity<Timed<256, 4>>{}, "2 micro-batches of 4 sequences", false);
  add(std::type_identity<Timed<256, 1>>{}, "8 micro-batches of 1 sequence", false);
  const Turns turns = take_turns(trainers, rounds, text);
  std::vector<bench::Row> rows;
  for (std::size_t k = 1; k < trainers.size(); ++k) {
    const double apart = std::abs(turns.losses[k] - turns.losses[0]);
    const bool same = has_bits[k] ? apart == 0 : apart < 1e-3;
    const char* peer = "KeepAll, 1 micro-batch of 8";
    rows.push_back({names[k], turns.ms[k], turns.ms[0], peer, "ms/step", apart, same});
    rows.push_back({names[k], double(trainers[k]->plan().memory.total) / (1 << 20),
                    double(trainers[0]->plan().memory.total) / (1 << 20), peer, "MiB planned",
                    apart, same});
  }
  return rows;
}

/// A cast that is made before it is known whether the step is applied.
constexpr Kind early_cast{
    .name = "cast early", .touch = touches::cast, .run = executes::cast, .by_shards = true};

/// Casts all weights before each micro-batch, as autocast does. (The update has already made the
/// copy, in its own pass.)
struct CastEachMicroBatch {
  struct slot {
    static constexpr std::string_view name = "casts";
  };
  static constexpr Program rewrite(const Model& model, const Program& program) {
    Program result = room_for(program);
    for (const Instruction& i : program) {
      result.push_back(i);
      if (i.kind->role == Role::loop) result.push_back({&early_cast, 0, short(model.order.size())});
    }
    return result;
  }
};

/// Compares one copy of the weights in a step with one in each of its 8 micro-batches.
bench::Row copies(int threads, int rounds, const std::string& text) {
  const TrainerSettings settings{.seed = 1, .threads = threads};
  Trainers trainers;
  trainers.push_back(std::make_unique<Trainer<Timed<256, 1, Bf16>>>(settings));
  trainers.push_back(std::make_unique<Trainer<Timed<256, 1, Bf16, CastEachMicroBatch>>>(settings));
  const Turns turns = take_turns(trainers, rounds, text);
  const double apart = std::abs(turns.losses[0] - turns.losses[1]);
  return {"Bf16, the weights cast once in a step of 8 micro-batches, GPT 256 wide, 6 layers",
          turns.ms[0],
          turns.ms[1],
          "cast in each micro-batch",
          "ms/step",
          apart,
          apart == 0};
}

/// Compares rounded inputs of matmuls with whole ones. The first losses differ by the rounding
/// alone.
template <int Width>
bench::Row rounded_inputs(int threads, int rounds, const std::string& text) {
  const TrainerSettings settings{.seed = 1, .threads = threads};
  Trainers trainers;
  trainers.push_back(std::make_unique<Trainer<Timed<Width, 8, Tf32>>>(settings));
  trainers.push_back(std::make_unique<Trainer<Timed<Width, 8>>>(settings));
  const Turns turns = take_turns(trainers, rounds, text);
  const double apart = std::abs(turns.first_losses[0] - turns.first_losses[1]);
  return {"Tf32, GPT " + std::to_string(Width) + " wide, 6 layers",
          turns.ms[0],
          turns.ms[1],
          "Fp32",
          "ms/step",
          apart,
          apart < 0x1p-8 * turns.first_losses[1]};
}

template <class R>
double state_of_parameter() {
  return double(Plan<R>::memory.optimizer) / double(Plan<R>::parameters);
}

template <class Optimizer>
double validation_loss(int threads, int steps, const std::string& text) {
  using R = gpt<128, 4, 4, 256, Optimizer, Batch<{.global = 8, .micro = 8}>,
                CosineDecay<{.warmup = 50, .steps = 500}>>;
  Trainer<R> trainer({.seed = 1, .threads = threads});
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t cut = text.size() * 9 / 10;
  ShuffledWindows windows(std::span(bytes, cut), {128, 8}, 1);
  HostBatch batch;
  for (int step = 0; step < steps; ++step) {
    windows.next(batch);
    (void)trainer.step(batch);
  }
  EvaluationWindows rest(std::span(bytes + cut, std::min<std::size_t>(text.size() - cut, 200'000)),
                         {128, 8});
  return trainer.evaluate(rest).mean();
}

template <class Optimizer>
std::vector<bench::Row> optimizer(int threads, int steps, const std::string& text, double plain) {
  const std::string name = short_type_name<Optimizer>();
  const double loss = validation_loss<Optimizer>(threads, steps, text);
  return {{name, state_of_parameter<gpt<512, 8, 6, 4096, Optimizer>>(), 8, "AdamW",
           "bytes of state a parameter, 512 wide", 0, true},
          {name, loss, plain, "AdamW", "validation loss, 128 wide", loss - plain, true}};
}

int run_bench(int argc, char** argv) {
  bench::CommandLine line("What the techniques of a single device cost and save.");
  int rounds = 15, steps = 500;
  std::string file;
  line.add_count("--rounds", rounds, "Turns that each contestant takes");
  line.add_count("--steps", steps, "Of training before the validation loss");
  line.add_option("--data", file, "Text to train on, instead of our own headers");
  line.read(argc, argv);
  const int threads = line.threads;
  const std::string text = bench::read_text(file);
  bench::Report report(line);
  report.print(less_memory(threads, rounds, text));
  report.print({copies(threads, rounds, text)});
  report.print(
      {rounded_inputs<256>(threads, rounds, text), rounded_inputs<512>(threads, rounds, text)});
  const double plain = validation_loss<AdamW<{.lr = 2e-3}>>(threads, steps, text);
  using Tuned =
      PolicyList<AdamW8bit<{.lr = 2e-3}>, Adafactor<{.lr = 2e-3}>, Lion<{.lr = 3e-4}>, Muon<>>;
  using Plain = PolicyList<AdamW<>, Adam<>, Sgd<>>;  // with as much state, or too slow to compare
  [&]<class... P>(PolicyList<P...>) {
    (report.print(optimizer<P>(threads, steps, text, plain)), ...);
  }(Joined<Tuned, OthersThan<Joined<Tuned, Plain>, shipped::optimizer>>());
  return report.write();
}

}  // namespace

int main(int argc, char** argv) { return bench::main_of(argc, argv, run_bench); }
