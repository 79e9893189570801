// SPDX-License-Identifier: Apache-2.0
// Checkpoints of ranks that have shards are those of ranks that have everything: whole tensors.
#include <optional>

#include "sinter/files/checkpoint.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/trainer/loop.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

template <class Parallel, class Precision>
using Averaged = Tiny<Parallel, Decaying, Precision, Clipped, Average<{.decay = .9}>>;
template <class Parallel, class Precision>
using TrainerOf = Trainer<Averaged<Parallel, Precision>>;
const TrainerSettings settings{.seed = 3, .threads = 2};
const TrainerSettings others{.seed = 4, .threads = 2};

void check_files(const fs::path& got, const fs::path& want) {
  for (const char* file : {"model.safetensors", "state.safetensors"}) {
    CAPTURE(file);
    CHECK(get(got / file) == get(want / file));
  }
}

/// Goes on from a checkpoint for some steps.
template <class Parallel, class Precision>
NamedNumbers resumed(const fs::path& from, int steps) {
  TrainerOf<Parallel, Precision> trainer(others);
  take_steps(trainer, 7, 8);  // what is there must go
  trainer.load(from);
  take_steps(trainer, 5, 5 + steps);
  return all_of(trainer);
}

TEST_CASE_TEMPLATE("checkpoints hold whole tensors, and are resumed by other ranks", Precision,
                   Fp32, Bf16, Fp16<>) {
  TemporaryFolder folder;
  TrainerOf<Whole<4>, Precision> whole(settings);
  TrainerOf<Split<4>, Precision> split(settings);
  take_steps(whole, 0, 5);
  take_steps(split, 0, 5);
  whole.save(folder / "whole");
  split.save(folder / "split");
  check_files(folder / "split", folder / "whole");

  // Each way of sharing the work has what was saved, and goes on as its like does.
  const NamedNumbers saved = all_of(whole);
  for (const char* from : {"whole", "split"}) {
    CAPTURE(from);
    const fs::path path = folder / from;
    CHECK(differences(resumed<Split<4>, Precision>(path, 0), saved).empty());
    CHECK(differences(resumed<Split<2>, Precision>(path, 0), saved).empty());
    CHECK(differences(resumed<Whole<2>, Precision>(path, 0), saved).empty());
    CHECK(differences(resumed<Single, Precision>(path, 0), saved).empty());
  }
  take_steps(whole, 5, 8);
  const NamedNumbers later = all_of(whole);
  CHECK(differences(resumed<Split<4>, Precision>(folder / "whole", 3), later).empty());
  CHECK(differences(resumed<Whole<4>, Precision>(folder / "split", 3), later).empty());
  CHECK(differences(resumed<Split<2>, Precision>(folder / "whole", 3),
                    resumed<Whole<2>, Precision>(folder / "split", 3))
            .empty());
  TrainerOf<Single, Precision> alone(settings);
  take_steps(alone, 0, 3);
  alone.save(folder / "alone");
  CHECK(differences(resumed<Split<2>, Precision>(folder / "alone", 0), all_of(alone)).empty());
}

template <int Stage, class Precision>
void check_stage() {
  CAPTURE(Stage);
  TemporaryFolder folder;
  TrainerOf<Split<4, Stage>, Precision> split(settings);
  take_steps(split, 0, 5);
  split.save(folder / "split");
  const fs::path path = folder / "split";
  const NamedNumbers saved = all_of(split);
  CHECK(differences(resumed<Split<2, Stage>, Precision>(path, 0), saved).empty());
  CHECK(differences(resumed<Split<2>, Precision>(path, 0), saved).empty());
  CHECK(differences(resumed<Whole<2>, Precision>(path, 0), saved).empty());
  CHECK(differences(resumed<Single, Precision>(path, 0), saved).empty());
  // Each then goes on as its like does from the same numbers.
  TrainerOf<Single, Precision> alone(others);
  alone.load(path);
  alone.save(folder / "alone");
  check_files(folder / "alone", path);
  CHECK(differences(resumed<Split<2>, Precision>(path, 3),
                    resumed<Whole<2>, Precision>(folder / "alone", 3))
            .empty());
  take_steps(split, 5, 8);
  CHECK(
      differences(resumed<Split<4, Stage>, Precision>(folder / "alone", 3), all_of(split)).empty());
}
TEST_CASE_TEMPLATE("checkpoints of stages 2 and 3 are those of all others, too", Precision, Fp32,
                   Bf16) {
  check_stage<2, Precision>();
  check_stage<3, Precision>();
}

TEST_CASE("a snapshot of shards stays as it was") {
  TemporaryFolder folder;
  TrainerOf<Split<2>, Bf16> trainer(settings);
  Snapshot snapshot;
  for (int first : {0, 3}) {
    take_steps(trainer, first, first + 3);
    const std::string now = "now" + std::to_string(first),
                      copied = "copied" + std::to_string(first);
    trainer.save(folder / now);
    trainer.copy_content(snapshot);
    take_steps(trainer, 8, 9);
    CheckpointWriter writer(folder / copied);
    snapshot.content().add_to(writer);
    writer.commit(trainer.steps(), "{}");
    check_files(folder / copied, folder / now);
  }
}

TEST_CASE("ranks with shards load only weights, of training or of the average") {
  TemporaryFolder folder;
  TrainerOf<Split<2>, Bf16> trainer(settings), other(others);
  take_steps(trainer, 0, 4);
  take_steps(other, 7, 9);
  trainer.save(folder / "saved");
  trainer.export_to(folder / "exported");
  for (const char* from : {"saved", "exported"}) {
    TrainerOf<Whole<2>, Bf16> want(others);
    want.load_weights(folder / from);
    other.load_weights(folder / from);
    CHECK(differences(parameters_of(other), parameters_of(trainer)).empty());
    CHECK(differences(all_of(other), all_of(want)).empty());
    take_steps(want, 0, 2);
    take_steps(other, 0, 2);
    CHECK(differences(all_of(other), all_of(want)).empty());
  }
  other.load_weights(folder / "saved", "ema");
  for (const Parameter& p : trainer.parameters())
    CHECK(other.parameter(p.name) == trainer.state("ema", p.name));
}

TEST_CASE("a parameter that is set is that of all ranks, and of their copies") {
  TrainerOf<Whole<2>, Bf16> whole(settings);
  TrainerOf<Split<2>, Bf16> split(settings);
  for (TrainerCore* trainer :
       {static_cast<TrainerCore*>(&whole), static_cast<TrainerCore*>(&split)})
    randomise(*trainer, 5, .1);
  CHECK(differences(all_of(whole), all_of(split)).empty());
  CHECK(whole.evaluate(batch_of(0)).sum == split.evaluate(batch_of(0)).sum);
  take_steps(whole, 0, 2);
  take_steps(split, 0, 2);
  CHECK(differences(all_of(whole), all_of(split)).empty());
}

}  // namespace
}  // namespace sinter::detail::testing
