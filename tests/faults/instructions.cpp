// SPDX-License-Identifier: Apache-2.0
// A rank dies, stops or is cut off before an instruction of a step, in every mode, while a checkpoint may be
// on its way: the other says so within five seconds, and the run goes on from its checkpoint to the end that
// it has without. SINTER_TEST_FAULTS=all tries all instructions, which takes hours; else every fourth has a death, and one of
// two modes the rest.
#include <chrono>
#include <cstdlib>
#include <set>

#include "sinter/data/arrays.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/network.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Say = RankProcesses::Say;

/// Two micro-batches on each of two ranks.
template <class... Policies>
struct Mode : Made<Mlp<{.in = 8, .hidden = 64, .out = 1}>, UpTo<1>, AdamW<{.lr = 1e-2}>, Bf16,
                   Batch<{.global = 16, .micro = 4}>, Policies...> {};
/// The same with shards that are whole parameters, each with its owner.
template <int Stage>
struct Owned
    : Made<Mlp<{.in = 8, .hidden = 16, .out = 1, .layers = 3}>, UpTo<1>, Muon<{.lr = 1e-2}>, Bf16,
           Batch<{.global = 16, .micro = 4}>, Zero<{.stage = Stage, .bucket_bytes = 500}>> {};
static_assert(!Plan<Owned<1>>::view.model.owned.empty());

std::vector<float> numbers(std::size_t count, int seed) {
  std::vector<float> all(count);
  for (std::size_t k = 0; k < count; ++k)
    all[k] = float((k * 37 + std::size_t(seed)) % 101) / 50 - 1;
  return all;
}
const std::vector<float> inputs = numbers(8 * 48, 1), targets = numbers(48, 2);

constexpr std::int64_t fault_step = 3, end_step = 6;

template <class R>
void train(TrainerCore& trainer, RunFolder& folder, std::int64_t steps) {
  Loop loop(trainer, ArrayData(inputs, 8, targets, 1, {.sequences = 16}), {}, &folder);
  loop.run({.steps = steps, .save_every = 1});
}
/// Begins or goes on to the end, with ranks that are threads.
template <class R>
std::string end_of(const fs::path& path) {
  {
    RunFolder folder(path, RunFolder::Mode::either);
    Trainer<R> trainer({.seed = 1, .threads = 2});
    train<R>(trainer, folder, end_step);
  }
  const CheckpointReader last(path / "last");
  CHECK(last.step() == end_step);
  return get(last.file("model.safetensors")) + get(last.file("state.safetensors"));
}

/// A moment of a step.
struct Moment {
  int position, iteration;
};
/// Calls `fault` at a moment.
struct Faulty : Observer {
  Moment moment;
  std::function<void()> fault;
  Faulty(const Moment& m, std::function<void()> f) : moment(m), fault(std::move(f)) {}
  void before(const Machine& machine, int position, int iteration) override {
    if (machine.now().step == fault_step && position == moment.position &&
        iteration == moment.iteration)
      fault();
  }
  void after(const Machine&, int, int) override {}
};
struct Listing : Observer {
  std::vector<Moment> all;
  void before(const Machine&, int position, int iteration) override {
    all.push_back({position, iteration});
  }
  void after(const Machine&, int, int) override {}
};
/// Those of the step that have instructions.
template <class R>
std::vector<Moment> moments() {
  Trainer<R> trainer({.seed = 1, .threads = 2});
  Listing listing, other;
  trainer.observe({&listing, &other});
  ArrayData data(inputs, 8, targets, 1, {.sequences = 16});
  HostBatch batch;
  data.next(batch);
  (void)trainer.step(batch);
  return listing.all;
}

struct Fault {
  const char* name;
  std::vector<World> worlds;
  std::function<void()> strike;                      // in the process of the victim
  int every;                                         // so many moments one is tried, unless all are
  std::function<void(int rank)> enter = [](int) {};  // a host
  bool lives = false;                                // the victim, and notices that it is alone
};

/// Two processes train without end, and one of them has a fault.
template <class R>
void check_fault(const Fault& fault, const Moment& moment, int victim, const std::string& whole) {
  CAPTURE(fault.name);
  CAPTURE(moment.position);
  CAPTURE(moment.iteration);
  CAPTURE(victim);
  const TemporaryFolder folder;
  const fs::path path = folder / "run";
  {
    RankProcesses ranks(fault.worlds, [&](const World& world, const Say& say) -> std::string {
      fault.enter(world.rank);
      Trainer<R> trainer({.seed = 1, .threads = 1, .world = world});
      Faulty faulty(moment, [&] {
        say("now");
        fault.strike();
      });
      if (world.rank == victim) trainer.observe({&faulty});
      using Mode = RunFolder::Mode;
      RunFolder run =
          world.rank ? RunFolder::seen(path, Mode::either) : RunFolder(path, Mode::either);
      train<R>(trainer, run, 1'000'000);
      return "fine";
    });
    REQUIRE(ranks.next_said(victim) == "now");
    const Clock::time_point begin = Clock::now();
    const std::string names[]{ranks.name(0), ranks.name(1)};
    const auto check_says = [&](int rank) {
      const std::string said = ranks.result(rank);
      INFO(said);
      CHECK(Clock::now() - begin < 5s);
      CHECK(said.find(names[1 - rank]) != std::string::npos);
      const std::string place = " Rank " + std::to_string(rank) + " was ";
      CHECK((said.find(place + "in step ") != std::string::npos ||
             said.find(place + "between steps, and had made ") != std::string::npos));
    };
    check_says(1 - victim);
    if (fault.lives) check_says(victim);
  }
  CHECK(end_of<R>(path) == whole);
}

constexpr int few = 4, one = 1000;  // every so many moments

using WithDdp = Mode<Ddp<{.bucket_bytes = 500}>>;
using WithZero3 = Mode<Zero<{.stage = 3, .bucket_bytes = 500}>>;
using Offloaded =
    Mode<Zero<{.stage = 3, .bucket_bytes = 500}>, Offload<{.weights = true, .bucket_bytes = 500}>>;
/// Whether faults that take seconds to notice are tried in a mode, unless all are.
template <class R>
constexpr bool is_chosen = std::is_same_v<R, WithDdp> || std::is_same_v<R, WithZero3>;

#define EVERY_MODE                                                                             \
  Mode<SplitBatch<>>, WithDdp,                                                                 \
      Mode<Ddp<{.bucket_bytes = 500, .compression = GradientCompression::bf16}>>,              \
      Mode<Zero<{.stage = 1, .bucket_bytes = 500}>>,                                           \
      Mode<Zero<{.stage = 2, .bucket_bytes = 500}>>, WithZero3, Offloaded, Owned<1>, Owned<2>, \
      Owned<3>

/// At some moments, of either rank in turn, or at all of both.
/// make  called with the number of a victim
template <class R>
void check_moments(const std::function<Fault(int victim)>& make) {
  const TemporaryFolder folder;
  const std::string whole = end_of<R>(folder / "whole");
  const std::vector<Moment> all = moments<R>();
  REQUIRE(all.size() > 15);
  const bool chosen = !std::getenv("SINTER_TEST_FAULTS");
  const std::size_t every = chosen ? std::size_t(make(0).every) : 1;
  if (every == one && !is_chosen<R>) return;
  for (std::size_t k = all.size() / 2 % every; k < all.size(); k += every)
    for (int victim = 0; victim < 2; ++victim)
      if (!chosen || every == one || victim == int(k / every % 2))
        check_fault<R>(make(victim), all[k], victim, whole);
}

void die() { ::kill(::getpid(), SIGKILL); }
void stop() { ::kill(::getpid(), SIGSTOP); }

TEST_CASE_TEMPLATE("a rank of one host that dies in a step is noticed, and the run goes on", R,
                   EVERY_MODE) {
  check_moments<R>([](int) { return Fault{"death", RankProcesses::worlds_of(2), die, few}; });
}
TEST_CASE_TEMPLATE("a rank of one host that stops in a step is noticed, and the run goes on", R,
                   EVERY_MODE) {
  check_moments<R>([](int) { return Fault{"stop", RankProcesses::worlds_of(2), stop, one}; });
}
TEST_CASE_TEMPLATE("a rank of another host that dies in a step is noticed, and the run goes on", R,
                   EVERY_MODE) {
  check_moments<R>(
      [](int) { return Fault{"death", RankProcesses::worlds_of_hosts({1, 1}), die, few}; });
}
TEST_CASE_TEMPLATE("a rank of another host that stops in a step is noticed, and the run goes on", R,
                   EVERY_MODE) {
  check_moments<R>(
      [](int) { return Fault{"stop", RankProcesses::worlds_of_hosts({1, 1}), stop, one}; });
}
TEST_CASE_TEMPLATE("a host that is cut off in a step is noticed, and the run goes on", R,
                   EVERY_MODE) {
  const Network network(2);
  if (!network.is_there()) return;
  check_moments<R>([&](int victim) {
    Fault fault{"cut", worlds_of(network, {1, 1}), [&, victim] { network.cut(victim); }, one};
    for (int host = 0; host < 2; ++host) network.join(host);
    fault.enter = [&](int rank) { network.enter(rank); };
    fault.lives = true;
    return fault;
  });
}

}  // namespace
}  // namespace sinter::detail::testing
