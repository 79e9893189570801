// SPDX-License-Identifier: Apache-2.0
// Ranks with shards that are processes, of one host or of several, have the bits of threads, and save the
// same files.
#include "program/models.hpp"
#include "sinter/parameters/average.hpp"
#include "support/rank_processes.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

template <int Ranks, class Precision, int Stage = 1>
using Averaged = Tiny<Split<Ranks, Stage>, Decaying, Precision, Clipped, Average<{.decay = .9}>>;

/// All that steps leave, as text that tells every bit.
std::string text_of(const TrainerCore& trainer, const Figures& figures) {
  std::string text;
  const auto add = [&](double x) { text += std::to_string(std::bit_cast<std::uint64_t>(x)) + " "; };
  std::ranges::for_each(figures.losses, add);
  std::ranges::for_each(figures.norms, add);
  for (const auto& [name, values] : all_of(trainer)) {
    text += "\n" + name + " ";
    std::ranges::for_each(values, add);
  }
  return text;
}

/// Steps, a checkpoint of this rank, one of all that is resumed, and further steps.
template <class R>
std::string train(const fs::path& folder, const World& world, int threads) {
  Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
  Figures figures = take_steps(trainer, 0, 12);
  std::string text = text_of(trainer, figures);
  const std::string mine = "saved by " + std::to_string(world.rank);
  trainer.save(folder / mine);
  Snapshot snapshot;
  trainer.copy_content(snapshot);
  for (const TensorView& tensor : snapshot.content().state)
    text.append(static_cast<const char*>(tensor.data), tensor.bytes);
  text += get(folder / mine / "model.safetensors") + get(folder / mine / "state.safetensors");
  figures = take_steps(trainer, 12, 14);
  trainer.load(folder / mine);
  figures = take_steps(trainer, 12, 16);
  return text + text_of(trainer, figures);
}

template <class R>
void check(const std::vector<World>& worlds) {
  CAPTURE(worlds[0].meeting.port);
  const TemporaryFolder folder, of_threads;
  RankProcesses processes(worlds, [&](const World& world, const RankProcesses::Say&) {
    return train<R>(folder.path(), world, 1);
  });
  const std::string want = train<R>(of_threads.path(), {}, int(worlds.size()));
  const std::vector<std::string> got = processes.results();
  for (std::size_t r = 0; r < got.size(); ++r) {
    CAPTURE(r);
    CHECK((got[r] == want));
    if (got[r] != want) MESSAGE(got[r].substr(0, 400));
  }
}
TEST_CASE_TEMPLATE("processes with shards have the bits of threads", Precision, Fp32, Bf16) {
  check<Averaged<2, Precision>>(RankProcesses::worlds_of(2));
  check<Averaged<4, Precision>>(RankProcesses::worlds_of(4));
  check<Averaged<2, Precision, 2>>(RankProcesses::worlds_of(2));
  check<Averaged<4, Precision, 2>>(RankProcesses::worlds_of(4));
  check<Averaged<2, Precision, 3>>(RankProcesses::worlds_of(2));
}
TEST_CASE("processes of several hosts with shards have the bits of threads") {
  check<Averaged<2, Fp32>>(RankProcesses::worlds_of_hosts({1, 1}));
  check<Averaged<2, Bf16, 3>>(RankProcesses::worlds_of_hosts({1, 1}));
  check<Averaged<4, Bf16, 2>>(RankProcesses::worlds_of_hosts({1, 2, 1}));
}

constexpr BertOptions of_classes = [] {
  BertOptions o = tiny_bert;
  o.labels = 3;
  return o;
}();
template <class Model, class... Policies>
using Read = Made<Letters, Model, Batch<{.global = 4, .micro = 1}>, Policies...>;

/// Weights without a head leave that as it is, in the master weights and in the copy that layers read.
std::string with_a_fresh_head(const fs::path& body, const World& world, int threads) {
  using R = Read<Bert<of_classes>, Bf16, Split<2>>;
  Trainer<R> trainer({.seed = 2, .threads = threads, .world = world});
  trainer.load_weights(body, "", MissingHead::starts_fresh);
  HostBatch batch = letters({5, 3, 6, 2});
  batch.ids[1] = {0, 2, 1, 2};
  const Applied applied = std::get<Applied>(trainer.step(batch));
  return text_of(trainer, {{applied.loss.sum}, {applied.gradient_norm}});
}
TEST_CASE("weights that lack a head leave that of all ranks as it is") {
  const TemporaryFolder folder;
  const Trainer<Read<Bert<tiny_bert>>> hidden({.seed = 1, .threads = 1});
  hidden.export_to(folder / "body");
  RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
    return with_a_fresh_head(folder / "body", world, 1);
  });
  const std::string want = with_a_fresh_head(folder / "body", {}, 2);
  CHECK(want.find("classifier.weight") != std::string::npos);
  for (const std::string& got : processes.results()) CHECK((got == want));
}

}  // namespace
}  // namespace sinter::detail::testing
