// SPDX-License-Identifier: Apache-2.0
// Every shipped program with each instruction removed, doubled, moved to every other place (so
// every adjacent pair is swapped) and made to run in the first or last micro-batch alone: the
// verifier rejects the mutant, or it computes the same bytes. There is no third case.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "program/models.hpp"
#include "program/poison.hpp"
#include "sinter/batch/pad_rows.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recovery/spike_guard.hpp"

namespace sinter::testing {
namespace {

/// What a recipe's programs compute: two steps, an evaluation and a prediction after each.
struct Traces {
  std::vector<double> losses;
  std::vector<std::vector<std::byte>> bytes;
  bool operator==(const Traces&) const = default;
};

struct Tally {
  int rejected = 0, same = 0, missed = 0;
};

/// Says which mutant hangs, and ends.
const char* running = "";
void too_slow(int) {
  std::fprintf(stderr, "this mutant hangs: %s\n", running);
  _exit(1);
}

template <class R>
class Subject {
  using L = Plan<R>;
  static constexpr int ranks = R::parallel::ranks(R::parallel::options);
  static_assert(ready<R>());

  HostBatch batch;
  RecipeView view = view_of<R>();
  Tally tally;

  Traces run(const Programs& programs, int on_ranks) {
    Placements placements(L::view, programs);
    const PlanView& plan = placements.plan;
    Ranks all(plan, view, on_ranks);
    std::vector<Poison> training(std::size_t(on_ranks), Poison(plan, plan.training));
    std::vector<Poison> evaluation(std::size_t(on_ranks), Poison(plan, plan.evaluation));
    Poison prediction(plan, plan.prediction);
    auto watch = [&](auto& poisons) {
      for (int r = 0; r < on_ranks; ++r) all.observers[std::size_t(r)] = &poisons[std::size_t(r)];
    };
    HostBatch some = first_sequences(batch, R::batch::micro);
    Traces traces;
    for (int step = 1; step <= 2; ++step) {
      watch(training);
      traces.losses.push_back(all.train(batch, step));
      for (int r = 0; r < on_ranks; ++r) traces.bytes.push_back(all.persistent(r));
      watch(evaluation);
      traces.losses.push_back(all.evaluate(batch));
      all.observers[0] = &prediction;
      if (!plan.predicting.results.empty()) traces.bytes.push_back(all.predict(some));
      traces.bytes.push_back(all.persistent());
    }
    return traces;
  }

  /// Compares every mutant of one of the programs with what all of them compute.
  void judge_all(const char* name, Program Programs::* which, const Model& model, Purpose purpose) {
    const Programs good = shipped<R>();
    const Program& program = good.*which;
    std::vector<Traces> expected{run(good, 1)};
    if (ranks > 1) expected.push_back(run(good, ranks));
    REQUIRE(std::isfinite(expected[0].losses[0]));
    auto judge = [&](Program mutant, std::size_t t, const std::string& change) {
      std::string what = std::string(name) + ": " + program[t].kind->name + " at " +
                         std::to_string(t) + " " + change;
      if (!verify(model, mutant, purpose).fine()) {
        ++tally.rejected;
        return;
      }
      running = what.c_str();
      Programs changed = good;
      changed.*which = std::move(mutant);
      alarm(60);
      bool same = run(changed, 1) == expected[0];
      if (ranks > 1) same &= run(changed, ranks) == expected[1];
      alarm(0);
      CHECK_MESSAGE(same, what << " is accepted, but computes something else");
      ++(same ? tally.same : tally.missed);
    };
    for (std::size_t t = 0; t < program.size(); ++t) {
      Program removed = program;
      removed.erase(removed.begin() + long(t));
      judge(removed, t, "removed");
      Program doubled = program;
      doubled.insert(doubled.begin() + long(t), program[t]);
      judge(doubled, t, "doubled");
      for (When when : {When::always, When::first, When::last}) {
        Program other = program;
        other[t].when = when;
        if (other != program) judge(other, t, "at other micro-batches");
      }
      for (std::size_t to = 0; to < program.size(); ++to) {
        Program moved = removed;
        moved.insert(moved.begin() + long(to), program[t]);
        if (moved != program) judge(moved, t, "moved to " + std::to_string(to));
      }
    }
  }

 public:
  explicit Subject(HostBatch b) : batch(std::move(b)) {}

  /// Whether the comparison sees the difference: losses of one micro-batch taken for all.
  bool notices_a_wrong_program() {
    Programs wrong = shipped<R>();
    std::swap(wrong.evaluation[0], wrong.evaluation[1]);  // load before the loop
    return run(wrong, 1) != run(shipped<R>(), 1);
  }

  void test(const char* name) {
    std::signal(SIGALRM, too_slow);
    judge_all("training", &Programs::training, L::model, {true, R::parallel::reduces});
    judge_all("evaluation", &Programs::evaluation, L::model, {false, false});
    if (!L::view.predicting.results.empty())
      judge_all("prediction", &Programs::prediction, L::view.predicting, {false, false});
    std::printf("%4d rejected, %3d the same bytes, %d missed: %s\n", tally.rejected, tally.same,
                tally.missed, name);
  }
};

using Once = Batch<{.global = 2, .micro = 2}>;
using Thrice = Batch<{.global = 3, .micro = 1}>;
using Buckets = Ddp<{.bucket_bytes = 500, .ranks = 2}>;
using TwoEach = Batch<{.global = 4, .micro = 1}>;  // two micro-batches on each of two ranks
using Full = Checkpoint<{.policy = full}>;
using Selective = Checkpoint<{.policy = selective}>;

template <class... Policies>
void test(const char* name, const std::vector<int>& lengths) {
  Subject<Made<Letters, Policies...>>(letters(lengths)).test(name);
}

TEST_CASE("a wrong program computes something else") {
  CHECK(Subject<Made<Letters, Gpt2<tiny>, Thrice>>(letters({5, 3, 6})).notices_a_wrong_program());
}

TEST_CASE("plain programs") {
  test<Gpt2<tiny>, Once>("GPT-2", {5, 3});
  test<Gpt2<tiny>, Thrice>("GPT-2, three micro-batches", {5, 3, 6});
  test<Gated, Thrice>("RMS norms and gates, three micro-batches", {5, 3, 6});
  test<Llama<tiny_llama>, Thrice>("Llama, three micro-batches", {5, 3, 6});
  test<Fused, Thrice, Fp64>("units with two outputs, three micro-batches, Fp64", {5, 3, 6});
  test<Bert<tiny_bert>, Thrice>("BERT, three micro-batches", {5, 3, 6});
}

TEST_CASE("programs of an encoder and a decoder") {
  Subject<Made<Letters, Seq2Seq<tiny_seq2seq>, Thrice>>(replies({5, 3, 6}, {2, 6, 4}))
      .test("encoder and decoder, three micro-batches");
  Subject<Made<Letters, Seq2Seq<tiny_seq2seq>, TwoEach, Buckets, Bf16, Full>>(
      replies({5, 3, 6, 2}, {2, 6, 4, 5}))
      .test("encoder and decoder, Ddp, Bf16, full");
}

TEST_CASE("checkpointed programs") {
  test<Gpt2<tiny>, Once, Full>("GPT-2, full", {5, 3});
  test<Gpt2<tiny>, Once, Selective>("GPT-2, selective", {5, 3});
  test<Fused, Thrice, Full>("units with two outputs, three micro-batches, full", {5, 3, 6});
  test<Fused, Once, Selective>("units with two outputs, selective", {5, 3});
  test<Llama<tiny_llama>, Once, Bf16, Selective>("Llama, Bf16, selective", {5, 3});
  test<Gated, Once, Selective>("RMS norms and gates, selective", {5, 3});
  test<Gated, Thrice, Bf16, Full>("RMS norms and gates, Bf16, full", {5, 3, 6});
}

TEST_CASE("data-parallel programs") {
  test<Gpt2<tiny>, TwoEach, Buckets>("GPT-2, Ddp, two micro-batches", {5, 3, 6, 2});
  test<Gpt2<tiny>, TwoEach, Buckets, Full>("GPT-2, Ddp, two micro-batches, full", {5, 3, 6, 2});
  test<Fused, TwoEach, Buckets, Selective>("units with two outputs, Ddp, selective", {5, 3, 6, 2});
}

TEST_CASE("programs with a copy of the weights") {
  test<Gpt2<tiny>, Thrice, Bf16>("GPT-2, Bf16, three micro-batches", {5, 3, 6});
  test<Fused, Thrice, Bf16, Full, PlainDescent>("units with two outputs, Bf16, cast, full",
                                                {5, 3, 6});
  test<Gpt2<tiny>, TwoEach, Buckets, Bf16>("GPT-2, Ddp, Bf16", {5, 3, 6, 2});
}

TEST_CASE("programs with frozen units") {
  test<Gpt2<tiny>, Once, Muon<>, Freeze<"wte", "wpe", "h.0">>("GPT-2, Muon, half frozen", {5, 3});
}

TEST_CASE("programs with an average of the weights") {
  test<Gpt2<tiny>, Thrice, Average<>>("GPT-2, average", {5, 3, 6});
  test<Gpt2<tiny>, TwoEach, Buckets, Bf16, Average<>>("GPT-2, Ddp, Bf16, average", {5, 3, 6, 2});
}

TEST_CASE("programs with a guard against spikes") {
  test<Gpt2<tiny>, TwoEach, Buckets, Bf16, SpikeGuard<>>("GPT-2, Ddp, Bf16, guard", {5, 3, 6, 2});
}

TEST_CASE("programs with running values") {
  test<Counting, Thrice>("running values, three micro-batches", {5, 3, 6});
  test<Counting, Thrice, Bf16, Full, Freeze<"h.0">>("running values, Bf16, full, one frozen",
                                                    {5, 3, 6});
  test<Counting, TwoEach, Buckets, SpikeGuard<>>("running values, Ddp, guard", {5, 3, 6, 2});
}

TEST_CASE("programs with padded rows and a padded vocabulary") {
  constexpr Gpt2Options padded{.layers = 2,
                               .heads = 2,
                               .width = 8,
                               .vocabulary = 11,
                               .positions = 6,
                               .dropout = 0.2,
                               .vocabulary_multiple = 8};
  test<Gpt2<padded>, Thrice, PadRows<{.multiple = 3}>>("GPT-2, padded", {5, 3, 4});
}

TEST_CASE("programs that recompute inside some units") {
  test<Gpt2<tiny>, Thrice, Checkpoint<{.policy = selective, .every = 2}>>(
      "GPT-2, selective of every second", {5, 3, 6});
}

TEST_CASE("a program without ids") {
  using Small = Mlp<{.in = 3, .hidden = 8, .out = 2, .layers = 4}>;
  Subject<Made<Small, Batch<{.global = 8, .micro = 4}>, Sgd<{.momentum = 0.9}>>>(numbers(8, 3, 2))
      .test("perceptron, SGD with momentum, two micro-batches");
}

}  // namespace
}  // namespace sinter::testing
