// SPDX-License-Identifier: Apache-2.0
// What does each way of sharing the work cost, and what memory does it take? SplitBatch (DP), Ddp (DDP) and
// Zero's stages on two processes, with a processor each, over shared memory. All take turns, with the same
// weights and tokens.
//   ./sinter bench parallel [--rounds N] [--only TEXT] [--json FILE] [--svg FILE]
// Three rows a mode, each beside Ddp: the time of a step; the memory that the plan gives a rank; and what a
// rank has touched after some steps, beyond what its process had before the trainer was made: of that, the
// mean over the ranks. What a rank sends in a step is beside the time. Behind them the same as tables of types
// and methods. --threads is 1 for each process.
#include <sys/prctl.h>

#include <csignal>

#include "contest.hpp"
#include "one_processor.hpp"
#include "recipes.hpp"
#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using bench::Contestant, bench::Round, bench::Settings;
using Clock = std::chrono::steady_clock;

constexpr int processes = 2, micro = 8;
constexpr double mebibyte = 1 << 20;
constexpr Gpt2Options shape{
    .layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128};

template <class Parallel, int MicroBatches, class... Policies>
struct gpt : Recipe<Gpt2<shape>, bench::Tokens<shape.positions, shape.vocabulary>,
                    AdamW<{.lr = 1e-3, .weight_decay = 0.1}>, ClipNorm<{.max = 1.0}>,
                    Batch<{.global = processes * MicroBatches * micro, .micro = micro}>, Parallel,
                    Policies...> {};

struct Mode {
  const char* name;
  TrainerCore (*make)(TrainerSettings);
  const PlanView* plan;
};
struct Task {
  const char* name;
  int micro_batches;  // of a process, in a step
  std::array<Mode, 5> modes;

  int sequences() const { return processes * micro_batches * micro; }
};
template <int MicroBatches, class... Policies>
Task task(const char* name) {
  const auto mode = []<class Parallel>(const char* of, Parallel*) {
    using R = gpt<Parallel, MicroBatches, Policies...>;
    return Mode{of, bench::make_trainer<R>, &Plan<R>::view};
  };
  constexpr int n = processes;
  return {name,
          MicroBatches,
          {mode("Ddp", static_cast<Ddp<{.ranks = n}>*>(nullptr)),
           mode("SplitBatch", static_cast<SplitBatch<{.ranks = n}>*>(nullptr)),
           mode("Zero, stage 1", static_cast<Zero<{.stage = 1, .ranks = n}>*>(nullptr)),
           mode("Zero, stage 2", static_cast<Zero<{.stage = 2, .ranks = n}>*>(nullptr)),
           mode("Zero, stage 3", static_cast<Zero<{.stage = 3, .ranks = n}>*>(nullptr))}};
}
const Task tasks[]{task<1>("GPT 256 wide, 6 layers, 1 micro-batch of 8×128"),
                   task<4>("GPT 256 wide, 6 layers, 4 micro-batches of 8×128"),
                   task<1, Bf16>("GPT 256 wide, 6 layers, 1 micro-batch of 8×128, Bf16")};

/// Bytes of this process that are in memory and in no file.
double touched_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long kibibytes = 0;
    if (std::sscanf(line.c_str(), "RssAnon: %ld kB", &kibibytes) == 1) return 1024.0 * kibibytes;
  }
  throw Error("This system does not say how much memory a process has touched.");
}

/// One of the two processes of a contestant.
class Runner {
  const Task& task;
  const int rank;
  const std::unique_ptr<Communicator> turns;
  const double before = touched_bytes();
  TrainerCore trainer;
  std::uint64_t number = 0;

 public:
  Runner(const Task& t, const Mode& mode, const World& world, const std::string& turns_id)
      : task(t),
        rank(world.rank),
        turns(shared_memory_rank({rank, processes, turns_id})),
        trainer(mode.make({.seed = 1, .threads = 1, .world = world})) {}

  /// Takes as many steps as rank 0 says, at the same time as the other.
  Round take(int steps) {
    double count = rank == 0 ? steps : 0, loss = 0;
    turns->sum(&count);
    const auto begin = Clock::now();
    for (int s = 0; s < int(count); ++s)
      loss = std::get<Applied>(trainer.step(bench::batch_of(shape, number++, 0, task.sequences())))
                 .loss.mean();
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    double touched = touched_bytes() - before;
    turns->sum(&touched);
    if (rank == 0) std::printf("FACT touched %.0f\n", touched / processes);
    return {ms / count, loss};
  }
};

void contest(const Task& task, const Mode& mode) {
  World world{.ranks = processes, .id = shared_memory_world_id()};
  const std::string turns_id = shared_memory_world_id();
  world.rank = fork() == 0;
  if (world.rank) prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench::take_processor(world.rank, processes);
  Runner runner(task, mode, world, turns_id);
  bench::serve_on_ranks(world.rank, 4 / task.micro_batches,
                        [&](int steps) { return runner.take(steps); });
}

/// Bytes that a rank sends in a step: the mean, as an algorithm needs that sends no more than it must.
double sent_in_step(const Task& task, const PlanView& plan) {
  double sent = 0;
  for (const Event& event : Communication(plan.training.program, true)
                                .events(plan.model, {0, processes, 0, task.micro_batches}))
    if (event.traffic.does != Traffic::waits) sent += sent_bytes(event.traffic, processes);
  return sent;
}

/// The same as rows of the tables in which Hugging Face compares DP with DDP, and what methods gain.
struct Summary {
  std::string types, methods;

  void add(const Task& task, const std::vector<const Contestant*>& all) {
    const auto ms = [&](std::size_t m) { return bench::median(all[m]->milliseconds); };
    const auto touched = [&](std::size_t m) { return all[m]->facts.at("touched") / mebibyte; };
    char row[256];
    for (const std::size_t m : {1, 0}) {
      std::snprintf(row, sizeof row, "| %d:%s | %s | shared memory | %.1f ms | %s |\n", processes,
                    m == 1 ? "DP" : "DDP", task.modes[m].name, ms(m), task.name);
      types += row;
    }
    for (std::size_t m = 0; m < all.size(); ++m) {
      std::snprintf(row, sizeof row, "| %s | %.2f | %.0f MiB a rank, %.2f | %s |\n",
                    task.modes[m].name, ms(0) / ms(m), touched(m), touched(m) / touched(0),
                    task.name);
      methods += row;
    }
  }
  void print() const {
    std::printf(
        "\n| type | | link | time of a step | work |\n|---|---|---|---|---|\n%s"
        "\n| method | speed, of Ddp's | memory, of Ddp's | work |\n|---|---|---|---|\n%s",
        types.c_str(), methods.c_str());
  }
};

std::vector<bench::Row> measure(int number, const Settings& settings, Summary& summary) {
  const Task& task = tasks[number];
  bench::Turns turns(settings);
  std::vector<const Contestant*> all;
  for (std::size_t m = 0; m < task.modes.size(); ++m)
    all.push_back(&turns.add_own(task.modes[m].name, {std::to_string(number), std::to_string(m)}));
  turns.take();
  std::vector<bench::Row> rows;
  const Contestant& ddp = *all[0];
  for (std::size_t m = 1; m < all.size(); ++m) {
    const Mode& mode = task.modes[m];
    const std::string name = std::string(mode.name) + ", " + task.name;
    const double apart = all[m]->apart_from(ddp);
    char more[64];
    std::snprintf(more, sizeof more, "sends %.1f MiB, Ddp %.1f",
                  sent_in_step(task, *mode.plan) / mebibyte,
                  sent_in_step(task, *task.modes[0].plan) / mebibyte);
    rows.push_back({"step, " + name, bench::median(all[m]->milliseconds),
                    bench::median(ddp.milliseconds), ddp.name, "ms/step", apart, apart < 1e-3,
                    more});
    rows.push_back({"plan, " + name, double(mode.plan->memory.total) / mebibyte,
                    double(task.modes[0].plan->memory.total) / mebibyte, ddp.name, "MiB a rank"});
    rows.push_back({"touched, " + name, all[m]->facts.at("touched") / mebibyte,
                    ddp.facts.at("touched") / mebibyte, ddp.name, "MiB a rank"});
  }
  summary.add(task, all);
  return rows;
}

int run_bench(int argc, char** argv) {
  Settings settings("Ways of sharing the work over two processes, with a processor each.", argc,
                    argv, 7);
  settings.threads = 1;
  bench::Report report(settings);
  Summary summary;
  for (int number = 0; number < int(std::size(tasks)); ++number)
    if (settings.wants(tasks[number].name)) report.print(measure(number, settings, summary));
  summary.print();
  return report.write();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
  bench::obey_avx2();
  const Task& task = tasks[std::stoul(argv[2])];
  contest(task, task.modes[std::stoul(argv[3])]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
