// SPDX-License-Identifier: Apache-2.0
// How well does the forecast of `describe --world` know a step on several ranks, and what does it say of
// 8 to 1,024? Ranks are processes with a processor each: two, and four where there are as many.
//   ./sinter bench scaling [--rounds N] [--only TEXT] [--latency US] [--bandwidth GB/S] [--json FILE] [--svg FILE]
// Three things are measured, in turns: runs of one rank, as many at the same time as there will be ranks,
// for the time of each instruction; the link, by sums of two processes that do nothing else; and the step
// on all ranks. The forecast is made of the first two alone. --svg draws the forecasts.
// Beyond one host the link is assumed, as --latency and --bandwidth say, and transfers run beside the
// computation.
#include <sys/prctl.h>

#include <csignal>
#include <utility>

#include "contest.hpp"
#include "one_processor.hpp"
#include "recipes.hpp"
#include "report.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

using bench::Contestant, bench::Round, bench::Settings, bench::Turns;
using Clock = std::chrono::steady_clock;

constexpr int micro = 8;
constexpr Gpt2Options shape{
    .layers = 6, .heads = 8, .width = 256, .vocabulary = 256, .positions = 128};
constexpr double target = 0.15;

template <class Parallel>
struct gpt : Recipe<Gpt2<shape>, bench::Tokens<shape.positions, shape.vocabulary>,
                    AdamW<{.lr = 1e-3, .weight_decay = 0.1}>, ClipNorm<{.max = 1.0}>,
                    Batch<{.global = 4 * micro, .micro = micro}>, Parallel> {};
using Whole = gpt<Ddp<>>;
template <int Ranks>
using Split = gpt<Zero<{.ranks = Ranks}>>;

/// A recipe's view, with so many ranks, and micro-batches of each.
template <class R>
std::shared_ptr<RecipeView> view_for(int ranks, int micro_batches) {
  const auto view = Trainer<R>::options();
  for (const Option& option : view->options) {
    if (option.dotted() == "batch.global")
      *std::get<int*>(option.value) = ranks * micro_batches * micro;
    if (option.dotted() == "parallel.ranks" && option.adjustable)
      *std::get<int*>(option.value) = ranks;
  }
  return view;
}
std::shared_ptr<RecipeView> view_of_split(int ranks, int micro_batches) {
  return ranks == 4 ? view_for<Split<4>>(ranks, micro_batches)
                    : view_for<Split<2>>(ranks, micro_batches);
}

struct Mode {
  const char* name;
  int micro_batches;  // of a rank
  std::shared_ptr<RecipeView> (*view)(int ranks, int micro_batches);
  const PlanView* plan;

  int sequences() const { return micro_batches * micro; }  // of a rank
};
const Mode modes[]{{"Ddp, 4 micro-batches", 4, view_for<Whole>, &Plan<Whole>::view},
                   {"Ddp, 1 micro-batch", 1, view_for<Whole>, &Plan<Whole>::view},
                   {"Zero, stage 1, 4 micro-batches", 4, view_of_split, &Plan<Split<2>>::view},
                   {"Zero, stage 1, 1 micro-batch", 1, view_of_split, &Plan<Split<2>>::view}};

// ---- what is measured, each by processes of its own

/// The times of each instruction, in seconds.
class Watch : public Observer {
  Clock::time_point begun;

 public:
  std::vector<std::vector<double>> seconds;

  explicit Watch(std::size_t instructions) : seconds(instructions) {}
  void before(const Machine&, int, int) override { begun = Clock::now(); }
  void after(const Machine&, int position, int) override {
    seconds[std::size_t(position)].push_back(
        std::chrono::duration<double>(Clock::now() - begun).count());
  }
};

/// A process of a contestant that trains: all ranks of one run, or as many runs of a rank each.
class Runner {
  const Mode& mode;
  const int rank, ranks;
  const bool together;
  const std::unique_ptr<Communicator> turns;
  TrainerCore trainer;
  Watch watch;
  std::uint64_t number = 0;

 public:
  Runner(const Mode& m, bool is_together, const World& world, const std::string& turns_id)
      : mode(m),
        rank(world.rank),
        ranks(world.ranks),
        together(is_together),
        turns(shared_memory_rank({rank, ranks, turns_id})),
        trainer(together
                    ? TrainerCore(m.view(ranks, m.micro_batches),
                                  {.seed = 1, .threads = 1, .world = world})
                    : TrainerCore(view_for<Whole>(1, m.micro_batches), {.seed = 1, .threads = 1})),
        watch(trainer.plan().training.program.size()) {
    if (!together) trainer.observe({&watch});
  }
  /// Takes as many steps as rank 0 says, at the same time as the others.
  Round take(int steps) {
    double count = rank == 0 ? steps : 0, seconds = 0, loss = 0;
    turns->sum(&count);
    const int each = mode.sequences();
    const int first = together ? 0 : rank * each, last = together ? ranks * each : first + each;
    const auto begin = Clock::now();
    for (int s = 0; s < int(count); ++s, ++number) {
      loss =
          std::get<Applied>(trainer.step(bench::batch_of(shape, number, first, last))).loss.mean();
    }
    seconds = std::chrono::duration<double>(Clock::now() - begin).count() / count;
    turns->sum(&seconds);
    if (rank == 0 && !together) tell_times();
    return {1e3 * seconds / ranks, loss};
  }

 private:
  void tell_times() const {
    for (std::size_t t = 0; t < watch.seconds.size(); ++t)
      if (!watch.seconds[t].empty())
        std::printf("FACT instruction_%zu %.9f\n", t, bench::median(watch.seconds[t]));
  }
};

void train(const Mode& mode, bool together, int ranks) {
  World world{.ranks = ranks, .id = shared_memory_world_id()};
  const std::string turns_id = shared_memory_world_id();
  for (int r = 1; r < ranks && world.rank == 0; ++r)
    if (fork() == 0) world.rank = r;
  if (world.rank) prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench::take_processor(world.rank, ranks);
  Runner runner(mode, together, world, turns_id);
  bench::serve_on_ranks(world.rank, 4 / mode.micro_batches,
                        [&](int steps) { return runner.take(steps); });
}

void measure_link() {
  const std::string id = shared_memory_world_id();
  const int rank = fork() == 0;
  if (rank) prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench::take_processor(rank, 2);
  const auto end = shared_memory_rank({rank, 2, id});
  bench::serve_on_ranks(rank, 1, [&](int) {
    end->barrier();
    const LinkCost link = measured_link(*end);
    if (rank == 0)
      std::printf("FACT latency %.9g\nFACT bandwidth %.9g\n", link.latency, link.bandwidth);
    return Round{1e3 * link.latency, 0};
  });
}

// ---- forecasts

/// The times of a plan's instructions from those of a run of Ddp on one rank: of layer calls, the same; of
/// others, as those of the same name there, by what both touch.
std::vector<double> seconds_for(const PlanView& plan, const std::map<std::string, double>& facts) {
  constexpr DeviceCost device{1e11, 1e10};  // any: only what instructions are to each other counts
  const std::span<const Instruction> known = Plan<Whole>::view.training.program,
                                     wanted = plan.training.program;
  const std::vector<double> estimate = computing_seconds(Plan<Whole>::view, device);
  std::vector<double> seconds = computing_seconds(plan, device);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    double measured = 0, estimated = 0;
    for (std::size_t k = 0; k < known.size(); ++k) {
      const bool is_like = wanted[t].kind->phases
                               ? known[k].kind == wanted[t].kind && known[k].what == wanted[t].what
                               : known[k].kind->name == std::string_view(wanted[t].kind->name);
      const auto fact = facts.find("instruction_" + std::to_string(k));
      if (!is_like || fact == facts.end()) continue;
      measured += fact->second;
      estimated += estimate[k];
    }
    if (wanted[t].kind->phases) {
      seconds[t] = measured;
    } else if (estimated > 0) {
      seconds[t] *= measured / estimated;
    }
  }
  return seconds;
}

/// Scales the times of instructions so that they add up to a step, with what is between them.
void add_up_to(double step, int micro_batches, std::map<std::string, double>& facts) {
  const std::span<const Instruction> program = Plan<Whole>::view.training.program;
  double sum = 0;
  walk(program, loop_of(program), micro_batches,
       [&](int t, int) { sum += facts["instruction_" + std::to_string(t)]; });
  for (auto& [name, seconds] : facts) seconds *= step / sum;
}

Forecast forecast_of(const Mode& mode, int ranks, const WorldCosts& costs,
                     const std::map<std::string, double>& facts) {
  const PlanForRanks plan(*mode.plan, ranks);
  return forecast(plan, ranks, costs, seconds_for(plan.view(), facts));
}

struct Point {
  int ranks;
  Forecast forecast;
};
struct Curve {
  std::string name;
  std::vector<Point> points;
};

/// Compares a forecast with what so many ranks take.
bench::Row compare(const Mode& mode, int ranks, const Settings& settings,
                   std::map<std::string, double>& facts) {
  const std::string number = std::to_string(&mode - modes), count = std::to_string(ranks);
  Turns turns(settings);
  const Contestant& apart = turns.add_own("runs of one rank", {"apart", number, count});
  const Contestant& link = turns.add_own("the link", {"link", number, count});
  const Contestant& together = turns.add_own("all ranks", {"together", number, count});
  turns.take();
  facts = apart.facts;
  add_up_to(1e-3 * bench::median(apart.milliseconds), mode.micro_batches, facts);
  const WorldCosts costs{
      mode.micro_batches, {link.facts.at("latency"), link.facts.at("bandwidth")}, 1};
  const Forecast f = forecast_of(mode, ranks, costs, facts);
  const double measured = bench::median(together.milliseconds), ours = 1e3 * f.step;
  const double off = ours / measured - 1;
  char more[160];
  std::snprintf(more, sizeof more,
                "%+.1f %%%s, exposed %.2f ms, one rank %.2f ms, link %.2f µs and %.2f GB/s",
                100 * off, std::abs(off) <= target ? "" : ", beyond 15 %", 1e3 * f.exposed,
                bench::median(apart.milliseconds), 1e6 * costs.link.latency,
                1e-9 * costs.link.bandwidth);
  return {std::string(mode.name) + ", " + count + " ranks, forecast",
          ours,
          measured,
          "measured",
          "ms/step",
          std::abs(off),
          true,
          more};
}

void print(const Curve& curve) {
  for (const Point& p : curve.points)
    std::printf("| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f %% |\n", curve.name.c_str(), p.ranks,
                1e3 * p.forecast.step, 1e3 * p.forecast.computing, 1e3 * p.forecast.exposed,
                p.forecast.sent / (1 << 20), 100 * p.forecast.computing / p.forecast.step);
  std::fflush(stdout);
}

/// Lets gnuplot draw the parts of steps in which ranks compute.
bool draw(const std::vector<Curve>& curves, const std::string& file) {
  FILE* plot = popen("gnuplot", "w");
  if (!plot) return false;
  std::fprintf(plot,
               "set terminal svg size 800,500\nset output '%s'\nset logscale x 2\n"
               "set xlabel 'ranks'\nset ylabel 'computing, %% of the step (forecast)'\n"
               "set yrange [0:100]\nset key bottom left\nset grid\n",
               file.c_str());
  for (std::size_t c = 0; c < curves.size(); ++c) {
    std::fprintf(plot, "$curve%zu << EOD\n", c);
    for (const Point& p : curves[c].points)
      std::fprintf(plot, "%d %.4f\n", p.ranks, 100 * p.forecast.computing / p.forecast.step);
    std::fprintf(plot, "EOD\n");
  }
  for (std::size_t c = 0; c < curves.size(); ++c)
    std::fprintf(plot, "%s $curve%zu with linespoints title '%s'", c ? "," : "plot", c,
                 curves[c].name.c_str());
  std::fprintf(plot, "\n");
  const bool drawn = pclose(plot) == 0;
  if (!drawn)
    std::fprintf(stderr,
                 "error: gnuplot could not draw %s. Is it there? apt-get install gnuplot-nox\n",
                 file.c_str());
  return drawn;
}

int run_bench(int argc, char** argv) {
  double latency = 20, bandwidth = 1.25;
  Settings settings("Forecasts of steps on many ranks.", argc, argv, 7,
                    [&](bench::CommandLine& line) {
                      line.add_option("--latency", latency, "Of a link between hosts, in µs")
                          ->check(CLI::NonNegativeNumber);
                      line.add_option("--bandwidth", bandwidth,
                                      "Of a link between hosts, in GB/s: 1.25 is 10 Gbit/s")
                          ->check(CLI::PositiveNumber);
                    });
  settings.threads = 1;
  const std::string picture = std::exchange(settings.svg, "");
  bench::Report report(settings, "relative");
  std::vector<Curve> curves;
  for (const Mode& mode : modes) {
    if (!settings.wants(mode.name)) continue;
    std::map<std::string, double> facts;
    std::vector<bench::Row> rows;
    for (int ranks : {4, 2})
      if (ranks == 2 || ranks <= bench::processors())
        rows.push_back(compare(mode, ranks, settings, facts));
    Curve& curve = curves.emplace_back(Curve{mode.name, {}});
    const WorldCosts costs{mode.micro_batches, {1e-6 * latency, 1e9 * bandwidth}};
    for (int ranks = 8; ranks <= 1024; ranks *= 2)
      curve.points.push_back({ranks, forecast_of(mode, ranks, costs, facts)});
    for (const Point& p : curve.points) {
      const std::string of = "_ms_on_" + std::to_string(p.ranks);
      rows.back().figures.emplace_back("step" + of, 1e3 * p.forecast.step);
      rows.back().figures.emplace_back("exposed" + of, 1e3 * p.forecast.exposed);
    }
    report.print(rows);
  }
  std::printf(
      "\nForecast, a rank a host, with an assumed link of %g µs and %g GB/s\n\n"
      "| | ranks | ms/step | computing | exposed | MiB sent by a rank | computing of step |\n"
      "|---|---|---|---|---|---|---|\n",
      latency, bandwidth);
  for (const Curve& curve : curves) print(curve);
  const bool drawn = picture.empty() || draw(curves, picture);
  return std::max(report.write(), drawn ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6 || std::string_view(argv[1]) != "--contestant") return run_bench(argc, argv);
  bench::obey_avx2();
  const std::string_view what = argv[2];
  if (what == "link") {
    measure_link();
  } else {
    train(modes[std::stoul(argv[3])], what == "together", std::stoi(argv[4]));
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
