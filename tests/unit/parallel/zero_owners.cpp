// SPDX-License-Identifier: Apache-2.0
// Zero with an optimizer that takes parameters whole: each parameter has one rank that owns it. That leaves what
// ranks leave that update everything.
#include "program/models.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/recipe/techniques.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

using Orthogonal = Muon<{.lr = 1e-2, .adamw_lr = 1e-2}>;
using Factors = Adafactor<{.lr = 1e-2, .beta1 = .9}>;  // a moment without a shape of its own
using Bytes = AdamW8bit<{.lr = 1e-2, .weight_decay = .1}>;
using Averaged = Average<{.decay = .9}>;

// ---- the same bits
template <int Ranks, class... Policies>
void same_as_ddp(const char* what) {
  CAPTURE(what);
  CAPTURE(Ranks);
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  Trainer<Tiny<Whole<Ranks>, Policies...>> whole(settings);
  Trainer<Tiny<Split<Ranks>, Policies...>> split(settings);
  check_same(whole, split);
}
TEST_CASE("stage 1 with owners has the bits of Ddp") {
  using Fast = Groups<Group<"*.bias", {.learning_rate = 2}>>;
  same_as_ddp<2, Orthogonal, Clipped>("Muon");
  same_as_ddp<4, Orthogonal, Bf16, Averaged>("Muon, which does not cast, Bf16, average");
  same_as_ddp<2, Orthogonal, Bf16, Clipped, Freeze<"wte", "wpe", "h.0">>("Muon, half frozen");
  same_as_ddp<4, Factors, Bf16, Clipped, Averaged>("Adafactor, Bf16, average");
  same_as_ddp<2, Factors, Fp16<>>("Adafactor, Fp16");
  same_as_ddp<4, Bytes, Clipped, Fast>("8 bits, groups");
  same_as_ddp<1, Orthogonal, Bf16>("one rank");
}

/// Among them a batch that leaves a rank of four without a sequence.
HostBatch with_few(int step) {
  return step % 4 == 3 ? token_batch({4, 12, 7}, vocabulary, std::uint64_t(step) + 1, .2)
                       : batch_of(step);
}
template <int Ranks, class... Policies>
void same_in_one_micro_batch(const char* what) {
  CAPTURE(what);
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  Trainer<Small<8 / Ranks, Whole<Ranks>, Policies...>> whole(settings);
  Trainer<Small<8 / Ranks, Split<Ranks, 2>, Policies...>> second(settings);
  check_same(whole, second, with_few);
}
TEST_CASE("stage 2 with owners has the bits of Ddp with one micro-batch") {
  same_in_one_micro_batch<4, Orthogonal, Clipped>("Muon");
  same_in_one_micro_batch<2, Factors, Bf16, Averaged>("Adafactor, Bf16, average");
  same_in_one_micro_batch<4, Bytes, Bf16>("8 bits, Bf16");
}

template <int Ranks, class... Policies>
void same_as_stage_2(const char* what) {
  CAPTURE(what);
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  Trainer<Tiny<Split<Ranks, 2>, Policies...>> second(settings);
  Trainer<Tiny<Split<Ranks, 3>, Policies...>> third(settings);
  check_same(second, third, with_few);
  const Prediction want = second.predict(with_few(3)), got = third.predict(with_few(3));
  CHECK(got.values == want.values);
}
TEST_CASE("stage 3 with owners has the bits of stage 2") {
  same_as_stage_2<4, Orthogonal, Clipped>("Muon");
  same_as_stage_2<2, Orthogonal, Bf16, Averaged, Freeze<"h.1">>("Muon, Bf16, a frozen block");
  same_as_stage_2<4, Factors, Bf16, Clipped>("Adafactor, Bf16");
  same_as_stage_2<2, Bytes>("8 bits");
}

template <int Stage, int Ranks, class Model>
void same_with(Model*) {
  CAPTURE(Stage);
  using Eight = Batch<{.global = 8, .micro = 8 / Ranks}>;
  const TrainerSettings settings{.seed = 3, .threads = Ranks};
  const auto rows = [](int step) { return numbers(8, 3, 2, step); };
  Trainer<Made<Model, Eight, Factors, Whole<Ranks>>> whole(settings);
  Trainer<Made<Model, Eight, Factors, Split<Ranks, Stage>>> split(settings);
  check_same(whole, split, rows);
}
template <class... Policies>
void same_in_a_file(const char* what, int ranks) {
  CAPTURE(what);
  const TrainerSettings settings{.seed = 3, .threads = ranks};
  Trainer<Tiny<Policies...>> kept(settings);
  Trainer<Tiny<Policies..., Offload<{.bucket_bytes = 1}>>> offload(settings);
  const Figures want = take_steps(kept, 0, 8), got = take_steps(offload, 0, 8);
  CHECK(got.losses == want.losses);
  CHECK(got.norms == want.norms);
  CHECK(differences(all_of(kept), all_of(offload)).empty());
}
TEST_CASE("with owners, state in files has the bits of state in the arena") {
  same_in_a_file<Orthogonal, Split<2>, Clipped>("Muon", 2);
  same_in_a_file<Bytes, Split<4, 2>>("8 bits", 4);
  same_in_a_file<Factors, Split<4, 3>, Bf16>("Adafactor", 4);
}

/// Two matrices, and the biases of two units.
using Shallow = Mlp<{.in = 3, .hidden = 8, .out = 2}>;
/// One matrix has more than all the others have together.
using Uneven = Mlp<{.in = 3, .hidden = 64, .out = 2, .layers = 3}>;
TEST_CASE("owners have the bits of Ddp with more ranks than parameters, or one huge matrix") {
  same_with<1, 8>(static_cast<Shallow*>(nullptr));
  same_with<2, 8>(static_cast<Shallow*>(nullptr));
  same_with<3, 8>(static_cast<Shallow*>(nullptr));
  same_with<1, 4>(static_cast<Uneven*>(nullptr));
  same_with<3, 4>(static_cast<Uneven*>(nullptr));
}

}  // namespace
}  // namespace sinter::detail::testing
