// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes have one exchange a step: of losses, norm and votes. So have they while a checkpoint
// is on its way: what ranks must know of it goes with the votes.
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <thread>

#include "sinter/data/objective.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"
#include "trainer/shared_save.hpp"

namespace {
std::atomic<bool> holds_files = false, is_full = false;
std::string held_step;  // the name of the checkpoint's folder
}  // namespace

/// Holds a file of that checkpoint until it is let go, and then may have no room for it.
extern "C" int fsync(int descriptor) {
  namespace fs = std::filesystem;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
  const bool is_held = path.extension() == ".safetensors" &&
                       path.parent_path().filename().string().find(held_step) != std::string::npos;
  if (is_held) holds_files.wait(true);
  if (is_held && is_full) return errno = ENOSPC, -1;
  return int(::syscall(SYS_fsync, descriptor));
}

namespace sinter::detail::testing {
namespace {

int exchanges = 0;  // of this process

/// Counts them.
class Counted final : public Communicator {
  std::unique_ptr<Communicator> own_;

 public:
  explicit Counted(std::unique_ptr<Communicator> own) : own_(std::move(own)) {}
  int rank() const override { return own_->rank(); }
  int ranks() const override { return own_->ranks(); }
  void wait(const void* data) override { own_->wait(data); }
  void sum(double* values, int count) override {
    ++exchanges;
    own_->sum(values, count);
  }
  void abort() noexcept override { own_->abort(); }

 private:
  void start_transfer(const Transfer& transfer) override { own_->start(transfer); }
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int) override {
    return own_->group(members);
  }
};

template <class R>
struct CountedExchanges : RecipeOf<R> {
  std::unique_ptr<Communicator> join_world(kernel::Stream& s, const World& joined) const override {
    return std::make_unique<Counted>(Cpu::join(s, joined));
  }
};

constexpr std::int64_t steps = 24, saved_step = 12;

/// How many exchanges each step has, of a run that begins a checkpoint after `saved_step`, whose files are held
/// until the last step; a line. An objective that does nothing stands for one of which nobody knows how much it
/// leaves to predict.
template <class R>
std::string exchanges_of_steps(const fs::path& path, const World& world, bool has_objective) {
  Trainer<R> trainer(std::make_shared<CountedExchanges<R>>(),
                     {.seed = 3, .threads = 1, .world = world});
  const auto folder = folder_of(path, RunFolder::Mode::fresh, world);
  AnySource source(
      ArrayData(network_inputs, 3, network_targets, 2, {.sequences = trainer.global_batch()}));
  const Objective nothing{.prepare = [](HostBatch&) {}, .prepares_parts = true};
  if (has_objective) source = AnySource(PreparedSource(std::move(source), nothing));
  held_step = step_folder_name(saved_step);
  std::string trace;
  int before = 0, saved = 0;
  Loop loop(trainer, std::move(source), {}, folder.get());
  loop.run({.steps = steps,
            .save_every = saved_step,
            .on_step =
                [&](const StepRecord& record) {
                  trace += std::to_string(exchanges - std::exchange(before, exchanges)) + " ";
                  holds_files = record.step >= saved_step && record.step < steps;
                  holds_files.notify_all();
                  if (record.step == steps) trace += std::to_string(saved) + " are saved, ";
                },
            .on_save = [&](const fs::path&) { ++saved; }});
  return trace + "then " + std::to_string(saved);
}

template <class Parallel>
void check_exchanges(bool has_objective) {
  using R = Network<AdamW<{.lr = 1e-2}>, Parallel>;
  const TemporaryFolder folder;
  RankProcesses ranks(2, [&](const World& world, const RankProcesses::Say&) {
    return exchanges_of_steps<R>(folder / "run", world, has_objective);
  });
  const std::vector<std::string> all = ranks.results();
  for (const std::string& said : all) {
    CAPTURE(said);
    std::istringstream line(said);
    for (int step = 1, count = 0; step <= steps; ++step) {
      CAPTURE(step);
      REQUIRE(bool(line >> count));
      const int usual = has_objective ? 2 : 1;
      CHECK((step == saved_step + 1 ? count > usual : count == usual));  // one begins before that
    }
  }
  CHECK(all[0].ends_with(" 0 are saved, then 2"));
}

TEST_CASE("a step has one exchange, while a checkpoint is on its way, too") {
  check_exchanges<Ddp<{.ranks = 2}>>(false);
  check_exchanges<Zero<{.ranks = 2}>>(false);
  check_exchanges<Zero<{.stage = 3, .ranks = 2}>>(false);
}

TEST_CASE("a step has a second exchange if no rank knows how much a whole batch predicts") {
  check_exchanges<Ddp<{.ranks = 2}>>(true);
}

TEST_CASE("all ranks have the text of the lowest rank that has one, whatever its letters") {
  using R = Network<AdamW<{.lr = 1e-2}>, Ddp<{.ranks = 3}>>;
  const std::string odd = "Ω\xff is \"full\"\n", longest(1000, 'x');
  RankProcesses ranks(3, [&](const World& world, const RankProcesses::Say&) {
    Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
    const auto told = [&](const std::vector<std::string>& own) {
      return first_text(trainer, own[std::size_t(world.rank)]) + "|";
    };
    return told({"", "", ""}) + told({"", odd, "later"}) + told({"a", "b", "c"}) +
           told({"", "", longest + " and more"});
  });
  for (const std::string& said : ranks.results())
    CHECK(said == "|rank 1: " + odd + "|rank 0: a|rank 2: " + longest + "|");
}

TEST_CASE("a rank whose disk is full says so in a step, and all warn after the same one") {
  using R = Network<AdamW<{.lr = 1e-2}>, Zero<{.ranks = 2}>>;
  const TemporaryFolder folder;
  constexpr std::int64_t every = 100, struck = 2 * every;
  RankProcesses ranks(2, [&](const World& world, const RankProcesses::Say&) {
    Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
    const auto of_run = folder_of(folder / "run", RunFolder::Mode::fresh, world);
    held_step = step_folder_name(struck);
    is_full = world.rank == 1;
    std::string trace;
    Loop loop(
        trainer,
        ArrayData(network_inputs, 3, network_targets, 2, {.sequences = trainer.global_batch()}), {},
        of_run.get());
    loop.run({.steps = 3 * every,
              .save_every = every,
              .on_step =
                  [&](const StepRecord& record) {
                    holds_files = record.step >= struck && record.step < struck + 2;
                    holds_files.notify_all();
                    if (record.step > struck && trace.empty())  // the threads need time
                      std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  },
              .on_warning =
                  [&](const std::string& text) {
                    if (contains(text, "could not be saved"))
                      trace += std::to_string(trainer.steps()) + ": " + text + "\n";
                  }});
    return trace;
  });
  const std::vector<std::string> all = ranks.results();
  CAPTURE(all[0]);
  CHECK(all[0] == all[1]);
  const int step = std::stoi(all[0]);
  CHECK(step > struck + 2);
  CHECK(step < 3 * every);  // where the next one begins, it would be told anyway
  CHECK(contains(all[0], "a checkpoint could not be saved: rank 1: Cannot write "));
  CHECK(step_folders(folder / "run").size() == 2);
}

}  // namespace
}  // namespace sinter::detail::testing
