// SPDX-License-Identifier: Apache-2.0
// What does it cost to train on two processes, with a processor each? Ddp over shared memory beside two
// runs of their own at the same time, and both beside PyTorch: DistributedDataParallel over Gloo, and
// two runs of their own. All have the same weights and tokens, and take turns.
//   ./sinter bench processes [--rounds N] [--peers PYTHON|new] [--only TEXT] [--json FILE] [--svg FILE]
// A time is that of a step, in which each process computes as many micro-batches; of two runs of their
// own it is two by the sum of their speeds. --threads is 1 for each process.
#include <sys/prctl.h>

#include <csignal>

#include "contest.hpp"
#include "one_processor.hpp"
#include "recipes.hpp"
#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace fs = std::filesystem;

namespace {

using bench::Contestant, bench::Round, bench::Settings, bench::Turns;
using Clock = std::chrono::steady_clock;

constexpr int processes = 2, micro = 8;
constexpr double lr = 1e-3, weight_decay = 0.1, beta2 = 0.999, max_norm = 1.0;
constexpr Gpt2Options shape{
    .layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128};

template <int Global, class... Parallel>
struct gpt : Recipe<Gpt2<shape>, bench::Tokens<shape.positions, shape.vocabulary>,
                    AdamW<{.lr = lr, .weight_decay = weight_decay}>, ClipNorm<{.max = max_norm}>,
                    Batch<{.global = Global, .micro = micro}>, Parallel...> {};

struct Work {
  const char* name;
  int micro_batches;  // of a process, in a step
  int steps;          // of a round
  TrainerCore (*together)(TrainerSettings);
  TrainerCore (*apart)(TrainerSettings);

  int sequences() const { return micro_batches * micro; }  // of a process
};
template <int MicroBatches>
Work work(const char* name, int steps) {
  constexpr int each = MicroBatches * micro;
  return {name, MicroBatches, steps,
          bench::make_trainer<gpt<processes * each, Ddp<{.ranks = processes}>>>,
          bench::make_trainer<gpt<each>>};
}
const Work works[]{work<4>("GPT 256 wide, 6 layers, 4 micro-batches of 8×128", 1),
                   work<1>("GPT 256 wide, 6 layers, 1 micro-batch of 8×128", 4)};

/// One of the two processes of a contestant.
class Runner {
  const Work& work;
  const bool together;
  const int rank;
  const std::unique_ptr<Communicator> turns;
  TrainerCore trainer;
  std::uint64_t number = 0;

 public:
  Runner(const Work& w, bool is_together, const World& world, const std::string& turns_id)
      : work(w),
        together(is_together),
        rank(world.rank),
        turns(shared_memory_rank({rank, processes, turns_id})),
        trainer(together ? w.together({.seed = 1, .threads = 1, .world = world})
                         : w.apart({.seed = 1, .threads = 1})) {}

  /// Takes as many steps as rank 0 says, at the same time as the other.
  Round take(int steps) {
    double count = rank == 0 ? steps : 0, speed = 0, loss = 0;
    turns->sum(&count);
    const auto begin = Clock::now();
    for (int s = 0; s < int(count); ++s) loss = step();
    speed = count / std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    turns->sum(&speed);
    return {processes / speed, loss};
  }

 private:
  double step() {
    const int first = together ? 0 : rank * work.sequences();
    const int last = together ? processes * work.sequences() : first + work.sequences();
    return std::get<Applied>(trainer.step(bench::batch_of(shape, number++, first, last)))
        .loss.mean();
  }
};

void contest(const Work& work, bool together) {
  World world{.ranks = processes, .id = shared_memory_world_id()};
  const std::string turns_id = shared_memory_world_id();
  world.rank = fork() == 0;
  if (world.rank) prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench::take_processor(world.rank, processes);
  Runner runner(work, together, world, turns_id);
  bench::serve_on_ranks(world.rank, work.steps, [&](int steps) { return runner.take(steps); });
}

/// Writes what the peers in Python read.
void write_job(const Work& work, const Settings& settings, const fs::path& folder) {
  fs::create_directories(folder);
  work.apart({.seed = 1, .threads = 1}).export_to(folder / "weights");
  std::ofstream(folder / "job.json") << nlohmann::json{{"layers", shape.layers},
                                                       {"heads", shape.heads},
                                                       {"width", shape.width},
                                                       {"micro", micro},
                                                       {"context", shape.positions},
                                                       {"lr", lr},
                                                       {"beta2", beta2},
                                                       {"weight_decay", weight_decay},
                                                       {"max_norm", max_norm},
                                                       {"steps", work.steps},
                                                       {"threads", 1},
                                                       {"packed", false},
                                                       {"processes", processes},
                                                       {"micro_batches", work.micro_batches}};
  std::ofstream ids(folder / "ids.bin", std::ios::binary),
      targets(folder / "targets.bin", std::ios::binary);
  const int steps = 1 + (1 + settings.rounds) * work.steps;
  for (int s = 0; s < steps; ++s) {
    const HostBatch batch =
        bench::batch_of(shape, std::uint64_t(s), 0, processes * work.sequences());
    bench::append(ids, batch.ids[0]);
    bench::append(targets, batch.ids[1]);
  }
}

bench::Row row(const std::string& name, const Contestant& ours, const Contestant& peer,
               bool same_loss) {
  const double apart = same_loss ? ours.apart_from(peer) : 0;
  return {name,
          bench::median(ours.milliseconds),
          bench::median(peer.milliseconds),
          peer.name,
          "ms/step",
          apart,
          apart < 1e-4,
          bench::least_to_most(ours.milliseconds, peer.milliseconds)};
}

std::vector<bench::Row> measure(int number, const Settings& settings) {
  const Work& w = works[number];
  const std::string name = w.name;
  const fs::path folder = settings.folder / std::to_string(number);
  bench::Turns turns(settings);
  const Contestant& ours = turns.add_own("Sinter, Ddp", {"together", std::to_string(number)});
  const Contestant& apart =
      turns.add_own("Sinter, 2 runs of their own", {"apart", std::to_string(number)});
  const Contestant *torch = nullptr, *torch_apart = nullptr;
  if (!settings.python.empty()) {
    write_job(w, settings, folder);
    torch = turns.add_python("PyTorch, DistributedDataParallel over Gloo", "processes.py",
                             "together", folder);
    torch_apart = turns.add_python("PyTorch, 2 runs of their own", "processes.py", "apart", folder);
  }
  turns.take();
  std::vector<bench::Row> rows{row("Ddp, " + name, ours, apart, false)};
  if (torch) rows.push_back(row("Ddp, " + name, ours, *torch, true));
  if (torch_apart) rows.push_back(row("2 runs of their own, " + name, apart, *torch_apart, true));
  return rows;
}

int run_bench(int argc, char** argv) {
  const Settings settings("Training on two processes, with a processor each.", argc, argv, 11);
  bench::Report report(settings);
  for (int number = 0; number < int(std::size(works)); ++number)
    if (settings.wants(works[number].name)) report.print(measure(number, settings));
  return report.write();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
  bench::obey_avx2();
  contest(works[std::stoul(argv[3])], std::string_view(argv[2]) == "together");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
