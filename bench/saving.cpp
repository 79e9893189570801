// SPDX-License-Identifier: Apache-2.0
// What does a save cost the steps around it? A run without saves, one whose checkpoints a thread
// writes while it goes on, and one that waits for each, in turns.
//   ./sinter bench saving [--threads N] [--rounds N] [--every N] [--folder DIR] [--json FILE]
//                         [--svg FILE]
// The model has 12.6 M parameters, and AdamW's state makes a checkpoint of 151 MB. Its rows have short
// steps and long ones, for what a save takes does not depend on the step's length. A turn is the time
// from the end of its first step to that of its last, saves included; the last save has half an
// interval of steps to end in. "ours" saves in the background; peers are the other two. The loss
// difference is that of the last step.
#include <chrono>

#include "recipes.hpp"
#include "report.hpp"
#include "sinter/files/run_folder.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

constexpr int context = 128, vocabulary = 256;

template <int SequencesPerStep>
struct gpt2_12m : Recipe<Gpt2<{.layers = 7,
                               .heads = 6,
                               .width = 384,
                               .vocabulary = vocabulary,
                               .positions = context}>,
                         bench::Tokens<context, vocabulary>, AdamW<{.lr = 3e-4}>,
                         Batch<{.global = SequencesPerStep, .micro = SequencesPerStep}>> {};

struct Sequences {
  int per_step;
  std::uint64_t number = 0;

  void next(HostBatch& batch) {
    batch.clear();
    for (int s = 0; s < per_step; ++s)
      bench::add_sequence(batch, kernel::mix(++number), context, vocabulary);
  }
  SamplerState state() const { return {.items = number}; }
  void restore(const SamplerState& saved) { number = saved.items; }
};

/// A run that goes on from turn to turn.
template <int SequencesPerStep>
class Contestant {
  std::unique_ptr<RunFolder> folder;
  TrainerCore trainer;
  Loop loop;
  LoopOptions options;

 public:
  std::vector<double> ms;  // of a step, one for each turn
  double last_loss = 0;

  Contestant(const fs::path& path, int threads, int every, bool in_background)
      : folder(path.empty() ? nullptr : std::make_unique<RunFolder>(path, RunFolder::Mode::fresh)),
        trainer(bench::make_trainer<gpt2_12m<SequencesPerStep>>({.seed = 1, .threads = threads})),
        loop(trainer, Sequences{SequencesPerStep}, {}, folder.get()) {
    options.save_every = every;
    options.save_in_background = in_background;
  }
  void turn(int steps) {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin, end;
    int taken = 0;
    options.steps += steps;
    options.on_step = [&](const StepRecord& record) {
      end = Clock::now();
      if (taken++ == 0) begin = end;
      last_loss = record.loss;
    };
    if (loop.run(options) != LoopEnd::finished) throw Error("The run stopped early.");
    ms.push_back(std::chrono::duration<double, std::milli>(end - begin).count() / (steps - 1));
  }
};

template <class Contestant>
bench::Row row(const std::string& name, const Contestant& ours, const std::string& peer_name,
               const Contestant& peer) {
  return {.row = name,
          .ours = bench::median(ours.ms),
          .peer = bench::median(peer.ms),
          .peer_name = peer_name,
          .unit = "ms a step",
          .loss_difference = std::abs(ours.last_loss - peer.last_loss),
          .valid = ours.last_loss == peer.last_loss,
          .more = bench::least_to_most(ours.ms, peer.ms)};
}

struct Settings {
  int threads, rounds = 3, every = 10;
  fs::path folder;
};

/// The rows of steps of this many sequences.
template <int SequencesPerStep>
std::vector<bench::Row> race(const Settings& s) {
  using Run = Contestant<SequencesPerStep>;
  Run none("", s.threads, 0, true);
  Run background(s.folder / "background", s.threads, s.every, true);
  Run waiting(s.folder / "waiting", s.threads, s.every, false);
  const int steps = 4 * s.every + s.every / 2;
  for (int round = 0; round < s.rounds; ++round)
    for (Run* contestant : {&none, &background, &waiting}) contestant->turn(steps);
  const std::string name = std::to_string(SequencesPerStep * context) + " tokens, a save every " +
                           std::to_string(s.every);
  return {row(name, background, "no saves", none),
          row(name, background, "waiting for each", waiting)};
}

}  // namespace

int main(int argc, char** argv) try {
  bench::CommandLine line("What a save costs the steps around it.");
  Settings settings;
  std::string where = fs::temp_directory_path() / "sinter-bench-saving";
  line.add_count("--rounds", settings.rounds, "Turns of each");
  line.add_count("--every", settings.every, "Steps between saves");
  line.add_option("--folder", where, "Where checkpoints go; it must not exist, and is removed");
  line.read(argc, argv);
  if (fs::exists(where)) throw Error(where + " exists. Name another --folder, or remove it.");
  settings.threads = line.threads;
  settings.folder = where;
  bench::Report report(line);
  for (auto* rows : {&race<4>, &race<16>}) {
    report.print(rows(settings));
    fs::remove_all(where);
  }
  return report.write();
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
