// SPDX-License-Identifier: Apache-2.0
// One rank that updates for all leaves what ranks leave that each update everything (in each precision:
// modes.hpp).
#include "sinter/parallel/split_batch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "program/models.hpp"
#include "sinter/clipping/clip_value.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recovery/spike_guard.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

template <int Ranks>
using AtRoot = SplitBatch<{.ranks = Ranks}>;

template <int Ranks, class... Policies>
void same_as_ddp(const char* what) {
  CAPTURE(what);
  CAPTURE(Ranks);
  Trainer<Tiny<Whole<Ranks>, Policies...>> all({.seed = 3, .threads = Ranks});
  Trainer<Tiny<AtRoot<Ranks>, Policies...>> one({.seed = 3, .threads = Ranks});
  check_same(all, one);
}

TEST_CASE("SplitBatch has the bits of Ddp with each kind of optimizer") {
  same_as_ddp<2, Sgd<{.lr = .1}>, Bf16>("no state");
  same_as_ddp<2, Sgd<{.lr = .1, .momentum = .9}>, ClipValue<{.limit = .01}>>("values clipped");
  same_as_ddp<4, Lion<{.lr = 1e-3, .weight_decay = .1}>, Fp16<>>("Lion");
  same_as_ddp<2, Muon<{.lr = 1e-2}>, Bf16>("Muon");
  same_as_ddp<2, Adafactor<{.lr = 1e-2}>, Clipped>("Adafactor");
  same_as_ddp<2, AdamW8bit<{.lr = 1e-2}>, Bf16>("AdamW8bit");
}

TEST_CASE("SplitBatch has the bits of Ddp with other policies") {
  using Fast = Groups<Group<"*.bias", {.learning_rate = 2}>>;
  same_as_ddp<2, Decaying, Bf16, Average<{.decay = .9}>>("an average, Bf16");
  same_as_ddp<4, Decaying, Clipped, Average<{.decay = .9}>, Fast>("an average, groups");
  same_as_ddp<2, Decaying, Bf16, Clipped, Freeze<"wte", "wpe", "h.0">, SpikeGuard<>>(
      "half frozen, Bf16");
  same_as_ddp<1, Decaying, Bf16, Clipped, Average<>>("one rank");
}

TEST_CASE("SplitBatch has the bits of Ddp with running values") {
  using Four = Batch<{.global = 4, .micro = 1}>;
  Trainer<Made<Letters, Counting, Four, Whole<2>, Bf16>> all({.seed = 3, .threads = 2});
  Trainer<Made<Letters, Counting, Four, AtRoot<2>, Bf16>> one({.seed = 3, .threads = 2});
  check_same(all, one, [](int step) { return letters({5, 3, 6, 2}, step); });
}

TEST_CASE("a step that is refused leaves the weights of all ranks as they were") {
  Trainer<Tiny<AtRoot<2>, Decaying, Bf16>> trainer({.seed = 3, .threads = 2});
  take_steps(trainer, 0, 2);
  const NamedNumbers before = all_of(trainer);
  const double loss = trainer.evaluate(batch_of(1)).sum;
  const std::string name = trainer.parameters()[0].name;
  const Numbers values = trainer.parameter(name);
  trainer.set_parameter(name, Numbers(values.size(), INFINITY));
  CHECK(std::holds_alternative<Skipped>(trainer.step(batch_of(2))));
  trainer.set_parameter(name, values);
  CHECK(differences(all_of(trainer), before).empty());
  CHECK(trainer.evaluate(batch_of(1)).sum == loss);
}

// ---- what each rank has
TEST_CASE("all ranks of SplitBatch have a plan as large as that of Ddp") {
  using One = Plan<Tiny<AtRoot<4>, Decaying, Bf16>>;
  using All = Plan<Tiny<Whole<4>, Decaying, Bf16>>;
  CHECK(One::bytes == All::bytes);
  CHECK(One::memory.optimizer == All::memory.optimizer);
  CHECK(One::memory.parameters == All::memory.parameters);
  CHECK(One::model.at_root());
  CHECK(One::model.shares(Space::master));
  CHECK(One::model.shares(region(0)));
  CHECK_FALSE(One::model.splits(region(0)));
  CHECK_FALSE(Plan<Tiny<AtRoot<4>, Decaying>>::model.shares(Space::master));
  CHECK_FALSE(All::model.shares(region(0)));
}

/// Pages of a space that some thread has touched.
int touched_pages(const Machine& machine, Space space) {
  const kernel::Flat<std::byte> flat = machine.flat<std::byte>(space);
  const auto size = std::uintptr_t(sysconf(_SC_PAGESIZE));
  const auto first = (std::uintptr_t(flat.data) + size - 1) / size,
             last = (std::uintptr_t(flat.data) + std::uintptr_t(flat.size)) / size;
  REQUIRE(last > first);
  std::vector<unsigned char> resident(last - first);
  void* const from = reinterpret_cast<void*>(first * size);
  REQUIRE(mincore(from, (last - first) * size, resident.data()) == 0);
  return int(std::ranges::count_if(resident, [](unsigned char page) { return page & 1; }));
}

TEST_CASE("the optimizer's state takes memory on the first rank alone") {
  Trainer<Tiny<AtRoot<2>, Decaying, Average<>>> trainer({.seed = 3, .threads = 2});
  take_steps(trainer, 0, 3);
  for (int r = 0; r < int(trainer.plan().model.regions.size()); ++r) {
    CAPTURE(r);
    CHECK(touched_pages(trainer.machine(0), region(r)) > 0);
    CHECK(touched_pages(trainer.machine(1), region(r)) == 0);
  }
}

TEST_CASE("ranks other than the first keep the weights that layers read, and no masters") {
  Trainer<Tiny<AtRoot<2>, Decaying, Bf16>> trainer({.seed = 3, .threads = 2});
  take_steps(trainer, 0, 3);
  const auto bytes = [&](int rank, Space space) {
    const kernel::Flat<std::byte> flat = trainer.machine(rank).flat<std::byte>(space);
    return std::vector<std::byte>(flat.data, flat.data + flat.size);
  };
  CHECK(bytes(0, Space::weights) == bytes(1, Space::weights));
  CHECK(bytes(0, Space::master) != bytes(1, Space::master));
  for (const ShardSlice& shard : trainer.machine(1).parameters().shards(0, 1))
    CHECK(shard.size == 0);
  CHECK(trainer.machine(0).parameters().shards(0, 1)[1].size > 0);
}

// ---- files
template <class Parallel>
using Averaged = Tiny<Parallel, Decaying, Bf16, Clipped, Average<{.decay = .9}>>;

template <class Parallel>
NamedNumbers resumed(const fs::path& from, int steps) {
  Trainer<Averaged<Parallel>> trainer({.seed = 4, .threads = 2});
  take_steps(trainer, 7, 8);  // what is there must go
  trainer.load(from);
  take_steps(trainer, 5, 5 + steps);
  return all_of(trainer);
}

TEST_CASE("checkpoints are those of Ddp, and are resumed by other ranks") {
  const TemporaryFolder folder;
  Trainer<Averaged<Whole<4>>> all({.seed = 3, .threads = 4});
  Trainer<Averaged<AtRoot<4>>> one({.seed = 3, .threads = 4});
  take_steps(all, 0, 5);
  take_steps(one, 0, 5);
  all.save(folder / "all");
  one.save(folder / "one");
  one.export_to(folder / "exported");
  for (const char* file : {"model.safetensors", "state.safetensors"})
    CHECK(get(folder / "one" / file) == get(folder / "all" / file));
  const NamedNumbers saved = all_of(all);
  CHECK(differences(resumed<AtRoot<2>>(folder / "all", 0), saved).empty());
  CHECK(differences(resumed<Single>(folder / "one", 0), saved).empty());
  CHECK(differences(resumed<Split<2>>(folder / "one", 0), saved).empty());
  take_steps(all, 5, 8);
  CHECK(differences(resumed<AtRoot<4>>(folder / "all", 3), all_of(all)).empty());
  CHECK(differences(resumed<Whole<4>>(folder / "one", 3), all_of(all)).empty());
  Trainer<Averaged<AtRoot<2>>> exported({.seed = 4, .threads = 2});
  exported.load_weights(folder / "exported");
  for (const auto& [name, values] : parameters_of(exported)) CHECK(values == saved.at(name));
}

}  // namespace
}  // namespace sinter::detail::testing
