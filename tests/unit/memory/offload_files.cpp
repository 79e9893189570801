// SPDX-License-Identifier: Apache-2.0
// Checkpoints of state that lives in a file are those of state that is kept, and each goes on from the other.
#include "sinter/files/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing::offload_files_tests {

using EachUnit = Offload<{.bucket_bytes = 1}>;
using Weights = Offload<{.weights = true, .bucket_bytes = 1}>;
const TrainerSettings settings{.seed = 3, .threads = 2}, others{.seed = 4, .threads = 2};

void check_files(const fs::path& got, const fs::path& want) {
  for (const char* file : {"model.safetensors", "state.safetensors"}) {
    CAPTURE(file);
    CHECK((get(got / file) == get(want / file)));
  }
}

/// Goes on from a checkpoint for some steps.
template <class... Policies>
NamedNumbers resumed(const fs::path& from, int steps) {
  Trainer<Tiny<Policies...>> trainer(others);
  take_steps(trainer, 7, 8);  // what is there must go
  trainer.load(from);
  take_steps(trainer, 5, 5 + steps);
  return all_of(trainer);
}

template <class Away, class Optimizer, class Parallel>
void check_resumes() {
  TemporaryFolder folder;
  Trainer<Tiny<Optimizer, Parallel>> kept(settings);
  Trainer<Tiny<Optimizer, Parallel, Away>> offload(settings);
  offload.save(folder / "fresh");  // before there is a file
  take_steps(kept, 0, 5);
  take_steps(offload, 0, 5);
  kept.save(folder / "kept");
  offload.save(folder / "away");
  check_files(folder / "away", folder / "kept");
  take_steps(kept, 5, 8);
  const NamedNumbers later = all_of(kept);
  CHECK(differences(resumed<Optimizer, Parallel, Away>(folder / "kept", 3), later).empty());
  CHECK(differences(resumed<Optimizer, Parallel>(folder / "away", 3), later).empty());
  offload.load(folder / "fresh");
  take_steps(offload, 0, 8);
  CHECK(differences(all_of(offload), later).empty());
}
TEST_CASE("runs with and without Offload go on from each other's checkpoints") {
  check_resumes<EachUnit, Decaying, Single>();
  check_resumes<EachUnit, Muon<>, Whole<2>>();
  check_resumes<EachUnit, Decaying, Split<2>>();
  check_resumes<EachUnit, Decaying, SplitBatch<{.ranks = 2}>>();
  check_resumes<Weights, Muon<>, Single>();
  check_resumes<Weights, Decaying, Whole<2>>();
  check_resumes<Weights, Decaying, Split<2, 3>>();
}

TEST_CASE_TEMPLATE("a snapshot of offloaded state stays as it was", Away, EachUnit, Weights) {
  TemporaryFolder folder;
  Trainer<Tiny<Decaying, Away>> trainer(settings);
  take_steps(trainer, 0, 3);
  trainer.save(folder / "now");
  Snapshot snapshot;
  trainer.copy_content(snapshot);
  take_steps(trainer, 3, 5);
  CheckpointWriter writer(folder / "copied");
  snapshot.content().add_to(writer);
  writer.commit(trainer.steps(), "{}");
  check_files(folder / "copied", folder / "now");
}

TEST_CASE_TEMPLATE("a trainer that loads only weights begins with fresh offloaded state", Away,
                   EachUnit, Weights) {
  TemporaryFolder folder;
  Trainer<Tiny<Decaying, Away>> trainer(settings), other(others);
  Trainer<Tiny<Decaying>> want(others);
  take_steps(trainer, 0, 4);
  take_steps(other, 7, 9);
  trainer.export_to(folder / "exported");
  other.load_weights(folder / "exported");
  want.load_weights(folder / "exported");
  CHECK(differences(all_of(other), all_of(want)).empty());
  take_steps(want, 0, 2);
  take_steps(other, 0, 2);
  CHECK(differences(all_of(other), all_of(want)).empty());
}

}  // namespace sinter::detail::testing::offload_files_tests
