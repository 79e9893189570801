// SPDX-License-Identifier: Apache-2.0
// State in the memory of the host leaves what state leaves that is on the card, on one that does not have the
// memory for it. (The emulated device copies as late as it may.)
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "emulated/device/emulated_memory.hpp"
#include "emulated/training/steps.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/trainer/snapshot.hpp"
#include "support/folder.hpp"
#include "support/message_of.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

using EachUnit = Offload<{.to = OffloadTo::host, .bucket_bytes = 1}>;
using Runs = Offload<{.to = OffloadTo::host, .bucket_bytes = 100'000}>;
using Weights = Offload<{.to = OffloadTo::host, .weights = true, .bucket_bytes = 1}>;
const TrainerSettings settings{.seed = 3, .threads = 1};

/// What some steps leave: figures, weights and state.
struct Trace {
  std::vector<Measured> steps;
  NamedNumbers numbers;
  bool operator==(const Trace&) const = default;
};
NamedNumbers all_of(const TrainerCore& trainer) {
  NamedNumbers all = parameters_of(trainer);
  for (const Region& region : trainer.plan().model.regions)
    for (const Parameter& p : trainer.parameters())
      all[std::string(region.name) + " of " + p.name] = trainer.state(region.name, p.name);
  return all;
}
template <class R>
Trace train(bool graph = true) {
  Trainer<R> trainer(settings);
  LaunchesDirectly observer;
  if (!graph) trainer.observe({&observer});  // who has an observer launches directly
  Trace trace;
  for (int s = 0; s < 6; ++s) trace.steps.push_back(take_step(trainer, s));
  trace.numbers = all_of(trainer);
  return trace;
}

template <class Away, class Precision, class... Policies>
void same() {
  const Trace kept = train<Tiny<Cuda<>, Precision, Policies...>>();
  CHECK((train<Tiny<Cuda<>, Precision, Policies..., Away>>() == kept));
  CHECK((train<Tiny<Cuda<>, Precision, Policies..., Away>>(false) == kept));
}
TEST_CASE("offloaded state has the bits of state on the card, in launch graphs and without") {
  same<EachUnit, Fp32>();
  same<Runs, Bf16, Checkpoint<>>();
  same<EachUnit, Fp16<>>();
}
TEST_CASE("offloaded weights have the bits of weights on the card") {
  same<Weights, Fp32>();
  same<Weights, Bf16, Checkpoint<>>();
}
TEST_CASE("offloaded state with its own shapes has the bits of state on the card") {
  using Kept =
      Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>, Cuda<>, Muon<>>;
  using Away = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>, Cuda<>,
                    Muon<>, EachUnit>;
  CHECK((train<Away>() == train<Kept>()));
}

TEST_CASE("a snapshot stays as it was, and a checkpoint goes on with state on the card") {
  const TemporaryFolder folder;
  using Kept = Tiny<Cuda<>, Bf16>;
  using Away = Tiny<Cuda<>, Bf16, EachUnit>;
  Trainer<Away> offload(settings);
  for (int s = 0; s < 3; ++s) take_step(offload, s);
  offload.save(folder / "3");
  std::string now;
  offload.show_content([&](const CheckpointContent& content) { now = bytes_of(content); });
  Snapshot snapshot;
  offload.copy_content(snapshot);
  for (int s = 3; s < 6; ++s) take_step(offload, s);
  CHECK((bytes_of(snapshot.content()) == now));
  steps_between<Kept>(3, 6, folder.path());
  Trainer<Kept> kept(settings);
  kept.load(folder / "6");
  CHECK((all_of(kept) == all_of(offload)));
  offload.load(folder / "3");
  for (int s = 3; s < 6; ++s) take_step(offload, s);
  CHECK((all_of(kept) == all_of(offload)));
}

TEST_CASE("a run that does not fit on the card fits with Offload") {
  using Wide =
      Gpt2<{.layers = 6, .heads = 2, .width = 64, .vocabulary = vocabulary, .positions = context}>;
  using Kept = Made<Wide, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>, Cuda<>>;
  using Away =
      Made<Wide, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 2}>, Cuda<>, EachUnit>;
  constexpr std::int64_t room =
      Plan<Away>::bytes + (std::int64_t(1) << 20);  // and what streams take
  static_assert(Plan<Kept>::bytes > room);
  const Trace plenty = train<Kept>();
  const std::int64_t taken = (std::int64_t(16) << 30) - kernel::emulated::bytes_left();
  setenv("SINTER_TEST_CARD_BYTES", std::to_string(taken + room).c_str(), 1);
  CHECK(message_of<Error>([] { train<Kept>(); }).find("the emulated card's free memory is") !=
        std::string::npos);
  CHECK((train<Away>() == plenty));
  unsetenv("SINTER_TEST_CARD_BYTES");
}

}  // namespace
}  // namespace sinter::detail::testing
