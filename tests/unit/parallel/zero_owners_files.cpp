// SPDX-License-Identifier: Apache-2.0
// Ranks that own parameters as processes: they have the bits of threads, and together save whole checkpoints, with
// which all ways of sharing the work go on.
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/parameters/average.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

using Orthogonal = Muon<{.lr = 1e-2, .adamw_lr = 1e-2}>;
using Averaged = Average<{.decay = .9}>;

// ---- processes, of one host and of several
/// All that steps leave, and what is read of a checkpoint of them, as text that tells every bit.
template <class R>
std::string train(const fs::path& folder, const World& world, int threads) {
  Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
  const Figures figures = take_steps(trainer, 0, 6);
  std::string text;
  const auto add = [&](double x) { text += std::to_string(std::bit_cast<std::uint64_t>(x)) + " "; };
  std::ranges::for_each(figures.losses, add);
  std::ranges::for_each(figures.norms, add);
  const std::string mine = "saved by " + std::to_string(world.rank);
  trainer.save(folder / mine);
  text += get(folder / mine / "model.safetensors") + get(folder / mine / "state.safetensors");
  take_steps(trainer, 6, 8);
  trainer.load(folder / mine);
  take_steps(trainer, 6, 9);
  for (const auto& [name, values] : all_of(trainer)) {
    text += "\n" + name + " ";
    std::ranges::for_each(values, add);
  }
  return text;
}
template <class R>
void check(const std::vector<World>& worlds) {
  const TemporaryFolder folder, of_threads;
  RankProcesses processes(worlds, [&](const World& world, const RankProcesses::Say&) {
    return train<R>(folder.path(), world, 1);
  });
  const std::string want = train<R>(of_threads.path(), {}, int(worlds.size()));
  for (const std::string& got : processes.results()) CHECK((got == want));
}
TEST_CASE("processes have the bits of threads") {
  check<Tiny<Split<2>, Orthogonal, Clipped, Averaged>>(RankProcesses::worlds_of(2));
  check<Tiny<Split<4, 2>, AdamW8bit<>, Bf16>>(RankProcesses::worlds_of(4));
  check<Tiny<Split<4, 3>, Orthogonal, Bf16>>(RankProcesses::worlds_of_hosts({1, 2, 1}));
}

// ---- checkpoints
template <class... Policies>
using Saved = Network<Orthogonal, Bf16, Averaged, Policies...>;

/// Runs from the beginning up to step 4 with checkpoints, in the background and not.
template <class R>
std::string run(const fs::path& path, const World& world, int threads) {
  std::string warnings;
  for (const bool in_background : {true, false}) {
    Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
    warnings +=
        run_network(trainer, path / (in_background ? "beside" : "between"), RunFolder::Mode::fresh,
                    {.steps = 4, .save_every = 2, .save_in_background = in_background});
  }
  return warnings;
}
/// What a trainer has that goes on from a checkpoint.
template <class R>
NamedNumbers resumed(const fs::path& from, int threads) {
  Trainer<R> trainer({.seed = 4, .threads = threads});
  trainer.load(from);
  return all_of(trainer);
}
TEST_CASE("four ranks of stage 3 save, and two of stage 1, three of stage 2, and one go on") {
  const TemporaryFolder folder, want;
  using R = Saved<Split<4, 3>>;
  RankProcesses ranks(RankProcesses::worlds_of(4), [&](World world, const RankProcesses::Say&) {
    return run<R>(folder.path(), world, 1);
  });
  CHECK(run<R>(want.path(), {}, 4).empty());
  for (const std::string& warnings : ranks.results()) CHECK(warnings == "");
  for (const char* how : {"beside", "between"})
    for (const int step : {2, 4}) {
      const fs::path name = fs::path(how) / step_folder_name(step);
      CAPTURE(name.string());
      check_same_tensors(folder / name, want / name);
    }
  const fs::path from = folder / "beside" / "last";
  const NamedNumbers saved = resumed<R>(from, 4);
  CHECK(differences(resumed<Saved<Split<2, 1>>>(from, 2), saved).empty());
  CHECK(differences(resumed<Saved<Split<3, 2>, Offload<>>>(from, 3), saved).empty());
  CHECK(differences(resumed<Saved<Whole<2>>>(from, 2), saved).empty());
  CHECK(differences(resumed<Saved<Single>>(from, 1), saved).empty());
  // Another number of ranks goes on as it does from what one rank has saved of the same.
  Trainer<Saved<Single>> alone({.seed = 5, .threads = 1});
  alone.load(from);
  const TemporaryFolder again;
  alone.save(again / "alone");
  for (const char* file : {"model.safetensors", "state.safetensors"})
    CHECK(get(again / "alone" / file) == get(from / file));
}

}  // namespace
}  // namespace sinter::detail::testing
