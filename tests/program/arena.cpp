// SPDX-License-Identifier: Apache-2.0
// What instructions do to the arena is what the plan says: no more, and no less.
#include <doctest/doctest.h>

#include <optional>

#include "program/models.hpp"
#include "program/touched.hpp"
#include "run/binder.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/axes_models.hpp"

namespace sinter::detail::testing::arena_tests {

/// Lets each instruction see only what it touches: all else is NaN while it runs, and must be left
/// alone; what it only reads must stay as it is.
class Isolation : public Observer {
  const PlanView& plan;
  const PlacementView& placement;
  std::vector<std::byte> snapshot;
  Rights rights;

 public:
  Isolation(const PlanView& p, const PlacementView& of) : plan(p), placement(of) {}

  void before(const Machine& machine, int t, int) override {
    const OpenMemory open;
    auto arena = machine.arena();
    const Model& model = &placement == &plan.prediction ? plan.predicting : plan.model;
    snapshot.assign(arena.begin(), arena.end());
    rights = RightsOf(model, placement, arena.size()).at(t);
    for (std::size_t k = 0; k < arena.size(); ++k)
      if (!rights.read[k]) arena[k] = std::byte(0xFF);
  }
  void after(const Machine& machine, int t, int) override {
    const OpenMemory open;
    auto arena = machine.arena();
    std::int64_t first = -1;
    for (std::size_t k = 0; k < arena.size() && first < 0; ++k) {
      std::byte expected = rights.read[k] ? snapshot[k] : std::byte(0xFF);
      if (!rights.write[k] && arena[k] != expected) first = std::int64_t(k);
    }
    const Instruction& i = placement.program[std::size_t(t)];
    CHECK_MESSAGE(first < 0, std::string(i.kind->name)
                                 << " " << i.what << " writes byte " << first);
    for (std::size_t k = 0; k < arena.size(); ++k)
      if (!rights.read[k]) arena[k] = snapshot[k];
  }
};

/// Fills what an instruction opens, and the workspace, with a pattern beforehand, and keeps what is
/// there afterwards: two patterns tell which bytes were written.
class Pattern : public Observer {
  const PlacementView& placement;
  const std::byte pattern;

 public:
  std::vector<std::vector<std::byte>> opened;  // by buffer, the last time
  std::vector<std::vector<std::byte>> workspaces;

  Pattern(const PlacementView& p, std::byte b)
      : placement(p), pattern(b), opened(p.buffers.size()) {}

  void before(const Machine& machine, int t, int) override {
    const OpenMemory open;
    for (const Buffer& b : placement.buffers)
      if (b.opened_by == t || b.space == Space::workspace)
        std::ranges::fill(bytes_of(machine, b), pattern);
  }
  void after(const Machine& machine, int t, int) override {
    const OpenMemory open;
    for (std::size_t k = 0; k < placement.buffers.size(); ++k) {
      const Buffer& b = placement.buffers[k];
      auto bytes = bytes_of(machine, b);
      if (b.opened_by == t) opened[k].assign(bytes.begin(), bytes.end());
      if (b.space == Space::workspace) workspaces.emplace_back(bytes.begin(), bytes.end());
    }
  }

 private:
  static std::span<std::byte> bytes_of(const Machine& machine, const Buffer& b) {
    return machine.arena().subspan(std::size_t(b.offset), std::size_t(b.bytes));
  }
};

constexpr std::byte one{0xA5}, other{0x5A};

/// The longest stretch that kept its pattern in both, but for the end of a line of 64 bytes: there
/// tensors are padded.
std::size_t longest_gap(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  std::size_t longest = a.empty() ? 1 : 0, begin = 0;
  for (std::size_t k = 0; k <= a.size(); ++k) {
    if (k < a.size() && a[k] == one && b[k] == other) continue;
    bool padding = k % 64 == 0 && k - begin < 64;
    if (!padding) longest = std::max(longest, k - begin);
    begin = k + 1;
  }
  return longest;
}

template <class R>
class Subject {
  static_assert(ready<R>());
  const std::shared_ptr<RecipeView> view = view_of<R>();
  Placements placements{Plan<R>::view, shipped(Plan<R>::view)};
  const PlanView& plan = placements.plan;
  HostBatch batch;

  bool predicts() const { return !plan.predicting.results.empty(); }
  HostBatch one_micro_batch() const { return first_sequences(batch, R::batch::micro); }

 public:
  explicit Subject(HostBatch full) : batch(std::move(full)) {}

  void instructions_keep_to_what_they_touch() {
    Ranks free(plan, view), watched(plan, view);
    Isolation training(plan, plan.training), evaluation(plan, plan.evaluation);
    Isolation prediction(plan, plan.prediction);
    for (int step = 1; step <= 2; ++step) {
      watched.observers[0] = &training;
      CHECK(watched.train(batch, step) == free.train(batch, step));
      CHECK(watched.persistent() == free.persistent());
      watched.observers[0] = &evaluation;
      CHECK(watched.evaluate(batch) == free.evaluate(batch));
      watched.observers[0] = &prediction;
      if (predicts()) CHECK(watched.predict(one_micro_batch()) == free.predict(one_micro_batch()));
    }
  }

  void every_buffer_is_written() {
    for (const PlacementView* placement : {&plan.training, &plan.evaluation, &plan.prediction}) {
      if (placement == &plan.prediction && !predicts()) continue;
      Pattern a(*placement, one), b(*placement, other);
      for (Pattern* p : {&a, &b}) run_once(*placement, *p);
      std::int64_t highest = 0;
      for (std::size_t k = 0; k < placement->buffers.size(); ++k) {
        const Buffer& buffer = placement->buffers[k];
        highest = std::max(highest, buffer.offset + buffer.bytes);
        if (buffer.opened_by < 0) continue;
        CHECK_MESSAGE(longest_gap(a.opened[k], b.opened[k]) == 0,
                      std::string(space_names[int(buffer.space)])
                          << " " << buffer.index << " of " << buffer.bytes
                          << " bytes is not written whole");
      }
      CHECK(highest == placement->peak);
      CHECK(used_workspace(a, b) > placement->workspace - 64 - largest_scratch());
    }
  }

  void gradients_are_written_and_nothing_beyond_the_plan() {
    constexpr std::int64_t guard = 4096;
    PlanView longer = plan;
    longer.memory.total += guard;
    std::vector<std::vector<std::byte>> gradients;
    for (std::byte pattern : {one, other}) {
      Ranks ranks(longer, view);
      Machine& machine = ranks.machine();
      auto beyond = machine.arena().subspan(std::size_t(plan.memory.total), guard);
      auto* gradient = machine.template flat<std::byte>(Space::gradient).data;
      int size = plan.model.sizes.of(Type::gradient);
      std::vector<std::byte> kept;
      std::vector<Parameter> trained = list_parameters(plan.model);
      std::erase_if(trained, [](const Parameter& p) { return p.frozen; });
      std::optional<OpenMemory> open(std::in_place);
      std::ranges::fill(beyond, pattern);
      for (const Parameter& p : trained)
        std::fill_n(gradient + p.offset * size, p.size * size, pattern);
      open.reset();
      ranks.train(batch, 1);
      open.emplace();
      for (const Parameter& p : trained)
        kept.insert(kept.end(), gradient + p.offset * size, gradient + (p.offset + p.size) * size);
      open.reset();
      gradients.push_back(kept);
      ranks.evaluate(batch);
      if (predicts()) ranks.predict(one_micro_batch());
      open.emplace();
      CHECK(std::ranges::all_of(beyond, [&](std::byte b) { return b == pattern; }));
    }
    CHECK(gradients[0] == gradients[1]);
  }

  /// So a copy of what a checkpoint holds holds up no forward, backward or evaluation.
  void checkpoints_change_behind_the_norm() {
    const auto is_norm = [](const Instruction& i) { return i.kind->role == Role::norm; };
    const std::span<const Instruction> training = plan.training.program;
    const int change = first_change(plan.model, training), all = int(training.size());
    CHECK(change > std::ranges::find_if(training, is_norm) - training.begin());
    CHECK(change < all);
    const std::span<const Instruction> evaluation = plan.evaluation.program;
    CHECK(first_change(plan.evaluating, evaluation) == int(evaluation.size()));
  }

 private:
  void run_once(const PlacementView& placement, Observer& observer) {
    Ranks ranks(plan, view);
    ranks.observers[0] = &observer;
    if (&placement == &plan.training) ranks.train(batch, 1);
    if (&placement == &plan.evaluation) ranks.evaluate(batch);
    if (&placement == &plan.prediction) ranks.predict(one_micro_batch());
  }
  /// Kernels need not fill their scratch.
  std::int64_t largest_scratch() const {
    std::int64_t largest = 0;
    const Sizes& sizes = plan.model.sizes;
    for (const Block& block : plan.model.blocks)
      for (const Node& node : plan.model.nodes.subspan(block.first_node, block.nodes)) {
        auto rows = [&](int operand) {
          return sizes.rows[plan.model.locals[block.first_local + node.in[operand]].axis];
        };
        const std::int64_t elements = node.layer->scratch(rows(0), rows(node.layer->inputs > 1));
        largest = std::max(largest, aligned(elements * sizes.of(Type::statistic)));
      }
    return largest;
  }
  static std::int64_t used_workspace(const Pattern& a, const Pattern& b) {
    std::size_t used = 0;
    for (std::size_t t = 0; t < a.workspaces.size(); ++t)
      for (std::size_t k = used; k < a.workspaces[t].size(); ++k)
        if (a.workspaces[t][k] != one || b.workspaces[t][k] != other) used = k + 1;
    return std::int64_t(used);
  }
};

template <class R>
void test(HostBatch full) {
  Subject<R> subject(std::move(full));
  subject.instructions_keep_to_what_they_touch();
  subject.every_buffer_is_written();
  subject.gradients_are_written_and_nothing_beyond_the_plan();
  subject.checkpoints_change_behind_the_norm();
}

using TwoTimesTwo = Batch<{.global = 4, .micro = 2}>;
const std::vector<int> all_full{6, 6, 6, 6};

TEST_CASE("the arena changes as planned: GPT-2, fp32, everything kept") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: GPT-2, fp64, units recomputed, reduced in buckets") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo, Fp64, Checkpoint<{.policy = full}>,
            Ddp<{.bucket_bytes = 2000, .ranks = 1}>>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: GPT-2, reduced in buckets as bf16") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo,
            Ddp<{.bucket_bytes = 2000, .compression = GradientCompression::bf16, .ranks = 1}>>>(
      letters(all_full));
}
TEST_CASE("the arena changes as planned: GPT-2, bf16, updated by one rank") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo, Bf16, Average<>, SplitBatch<{.ranks = 1}>>>(
      letters(all_full));
}
TEST_CASE("the arena changes as planned: units with two outputs, cheap layers recomputed") {
  test<Made<Letters, Fused, TwoTimesTwo, Checkpoint<{.policy = selective}>>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: RMS norms and gates") {
  test<Made<Letters, Gated, TwoTimesTwo>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: RMS norms and gates, bf16, cheap layers recomputed") {
  test<Made<Letters, Gated, TwoTimesTwo, Bf16, Checkpoint<{.policy = selective}>>>(
      letters(all_full));
}
TEST_CASE(
    "the arena changes as planned: BERT, a head with a borrowed weight and a bias of its own") {
  test<Made<Letters, Bert<tiny_bert>, TwoTimesTwo>>(letters(all_full));
}
TEST_CASE(
    "the arena changes as planned: BERT, bf16, pairs and classes of sequences, cheap layers "
    "recomputed") {
  test<Made<Letters, Bert<tiny_pairs>, TwoTimesTwo, Bf16, Checkpoint<{.policy = selective}>>>(
      pairs(all_full));
}
TEST_CASE("the arena changes as planned: encoder and decoder, fp32, everything kept") {
  test<Made<Letters, Seq2Seq<tiny_seq2seq>, TwoTimesTwo>>(replies(all_full, all_full));
}
TEST_CASE("the arena changes as planned: encoder and decoder, bf16, units recomputed") {
  test<Made<Letters, Seq2Seq<tiny_seq2seq>, TwoTimesTwo, Bf16, Checkpoint<{.policy = full}>>>(
      replies(all_full, all_full));
}
TEST_CASE("the arena changes as planned: Llama, fp32, everything kept") {
  test<Made<Letters, Llama<tiny_llama>, TwoTimesTwo>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: Llama, bf16, cheap layers recomputed") {
  test<Made<Letters, Llama<tiny_llama>, TwoTimesTwo, Bf16, Checkpoint<{.policy = selective}>>>(
      letters(all_full));
}
TEST_CASE(
    "the arena changes as planned: rows on two axes, bf16, attention across them, cheap layers "
    "recomputed") {
  test<Made<AcrossAxes<.2f>, TwoContexts, TwoTimesTwo, Bf16, Checkpoint<{.policy = selective}>>>(
      two_axes_batch({5, 5, 5, 5}, {9, 9, 9, 9}, 1));
}
TEST_CASE("the arena changes as planned: GPT-2, bf16, the copy made by the optimizer") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo, Bf16>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: GPT-2, Adafactor, the lower half frozen, averaged") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo, Adafactor<>, Freeze<"wte", "wpe", "h.0">, Average<>>>(
      letters(all_full));
}
TEST_CASE("the arena changes as planned: GPT-2, Muon, bf16, the upper half frozen") {
  test<Made<Letters, Gpt2<tiny>, TwoTimesTwo, Muon<>, Bf16, Freeze<"h.2", "ln_f">>>(
      letters(all_full));
}
TEST_CASE("the arena changes as planned: perceptron, SGD with momentum") {
  test<Made<Mlp<{.in = 3, .hidden = 8, .out = 2, .layers = 4}>, Batch<{.global = 8, .micro = 4}>,
            Sgd<{.momentum = 0.9}>>>(numbers(8, 3, 2));
}

#ifndef SINTER_CUDA  // of code that reads single elements, which are not there for the host
TEST_CASE("the arena changes as planned: units with two outputs, bf16, the copy made by a cast") {
  test<Made<Letters, Fused, TwoTimesTwo, Bf16, PlainDescent>>(letters(all_full));
}
TEST_CASE("the arena changes as planned: running values, fp32, everything kept") {
  test<Made<Letters, Counting, TwoTimesTwo>>(letters(all_full));
}
TEST_CASE(
    "the arena changes as planned: running values, bf16, units recomputed, one frozen, reduced in "
    "buckets") {
  test<Made<Letters, Counting, TwoTimesTwo, Bf16, Checkpoint<{.policy = full}>, Freeze<"h.1">,
            Ddp<{.bucket_bytes = 2000, .ranks = 1}>>>(letters(all_full));
}
#endif

/// The same model with room for twice as many sequences, each twice as long.
struct LongLetters {
  using slot = slot::data;
  static constexpr int context = 12, vocabulary = 11;
};
TEST_CASE("rows below the budget give the bits of a plan that they fill") {
  constexpr Gpt2Options options{
      .layers = 2, .heads = 2, .width = 8, .vocabulary = 11, .positions = 12, .dropout = 0.2};
  using Tight = Made<Letters, Gpt2<options>, Batch<{.global = 2, .micro = 2}>>;
  using Wide = Made<LongLetters, Gpt2<options>, Batch<{.global = 4, .micro = 4}>>;
  static_assert(ready<Tight>() && ready<Wide>());
  static_assert(Plan<Tight>::training.persistent == Plan<Wide>::training.persistent);
  static_assert(Plan<Tight>::bytes < Plan<Wide>::bytes);
  Ranks tight(Plan<Tight>::view, view_of<Tight>()), wide(Plan<Wide>::view, view_of<Wide>());
  for (int step = 1; step <= 3; ++step) {
    HostBatch batch = letters(step == 2 ? std::vector{6, 6} : std::vector{5, 3}, step);
    CHECK(tight.train(batch, step) == wide.train(batch, step));
    CHECK(tight.persistent() == wide.persistent());
    CHECK(tight.predict(batch) == wide.predict(batch));
  }
}

}  // namespace sinter::detail::testing::arena_tests
