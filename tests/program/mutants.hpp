// SPDX-License-Identifier: Apache-2.0
// A shipped program with each instruction removed, each transfer removed with what waits for it, and each
// instruction doubled, moved to every other place (so every
// adjacent pair is swapped) and made to run in the first or last micro-batch alone: the verifier
// rejects the mutant, or it computes the same bytes. There is no third case.
#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "program/models.hpp"
#include "program/poison.hpp"

namespace sinter::detail::testing {

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
inline const char* running_mutant = "";
inline void too_slow(int) {
  std::fprintf(stderr, "this mutant hangs: %s\n", running_mutant);
  _exit(1);
}

/// Of one recipe: the tests know it by its view, so that all of this is compiled once.
class Mutants {
  HostBatch batch;
  std::shared_ptr<RecipeView> view;
  const PlanView& plan;
  Programs good;
  bool reduces;  // whether its ranks do
  Tally tally;

  Traces run(const Programs& programs, int on_ranks) {
    Placements placements(plan, programs);
    const PlanView& placed = placements.plan;
    Ranks all(placed, view, on_ranks);
    std::vector<Poison> training(std::size_t(on_ranks), Poison(placed, placed.training));
    std::vector<Poison> evaluation(std::size_t(on_ranks), Poison(placed, placed.evaluation));
    Poison prediction(placed, placed.prediction);
    auto watch = [&](auto& poisons) {
      for (int r = 0; r < on_ranks; ++r) all.observers[std::size_t(r)] = &poisons[std::size_t(r)];
    };
    HostBatch some = first_sequences(batch, plan.micro);
    Traces traces;
    for (int step = 1; step <= 2; ++step) {
      watch(training);
      traces.losses.push_back(all.train(batch, step));
      for (int r = 0; r < on_ranks; ++r) traces.bytes.push_back(all.persistent(r));
      watch(evaluation);
      traces.losses.push_back(all.evaluate(batch));
      all.observers[0] = &prediction;
      if (!placed.predicting.results.empty()) traces.bytes.push_back(all.predict(some));
      traces.bytes.push_back(all.persistent());
    }
    return traces;
  }

  /// On how many ranks programs run. A model that is split is planned for so many.
  std::vector<int> rank_counts() const {
    const int ranks = view->ranks();
    if (plan.model.shards > 1) return {ranks};
    return ranks > 1 ? std::vector{1, ranks} : std::vector{1};
  }

  /// The position of the instruction that waits for all transfers that one starts; the end if there is
  /// none.
  static std::size_t wait_for(const Model& model, const Program& program, std::size_t start) {
    const auto touched = [&](const Instruction& i, bool starts) {
      std::vector<std::pair<Space, short>> found;
      TouchList list;
      i.kind->touch(model, i, list);
      for (const Touch& touch : list) {
        const bool transfers =
            touch.use == Use::fetch || touch.use == Use::send || touch.use == Use::exchange;
        if (starts ? transfers : touch.use == Use::finish)
          found.emplace_back(touch.space, touch.index);
      }
      return found;
    };
    const auto started = touched(program[start], true);
    std::size_t t = program.size();
    if (!started.empty())
      for (t = start + 1; t < program.size() && touched(program[t], false) != started; ++t) {
      }
    return t;
  }

  /// Compares every mutant of one of the programs with what all of them compute.
  void judge_all(const char* name, Program Programs::* which, const Model& model, Purpose purpose) {
    const Program& program = good.*which;
    const std::vector<int> counts = rank_counts();
    std::vector<Traces> expected;
    for (int count : counts) expected.push_back(run(good, count));
    REQUIRE(std::isfinite(expected[0].losses[0]));
    auto judge = [&](Program mutant, std::size_t t, const std::string& change) {
      std::string what = std::string(name) + ": " + program[t].kind->name + " at " +
                         std::to_string(t) + " " + change;
      if (!verify(model, mutant, purpose).fine()) {
        ++tally.rejected;
        return;
      }
      running_mutant = what.c_str();
      Programs changed = good;
      changed.*which = std::move(mutant);
      alarm(60);
      bool same = true;
      for (std::size_t k = 0; k < counts.size(); ++k)
        same &= run(changed, counts[k]) == expected[k];
      alarm(0);
      CHECK_MESSAGE(same, what << " is accepted, but computes something else");
      ++(same ? tally.same : tally.missed);
    };
    for (std::size_t t = 0; t < program.size(); ++t) {
      Program removed = program;
      removed.erase(removed.begin() + long(t));
      judge(removed, t, "removed");
      if (const std::size_t wait = wait_for(model, program, t); wait < program.size()) {
        Program pair = program;
        pair.erase(pair.begin() + long(wait));
        pair.erase(pair.begin() + long(t));
        judge(pair, t, "removed with what waits for it");
      }
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
  template <class R>
  Mutants(R, HostBatch b)
      : batch(std::move(b)),
        view(view_of<R>()),
        plan(*view->plan),
        good(shipped(plan)),
        reduces(R::parallel::reduces) {
    static_assert(ready<R>());
  }

  /// Whether the comparison sees the difference: losses of one micro-batch taken for all.
  bool notices_a_wrong_program() {
    Programs wrong = good;
    std::swap(wrong.evaluation[0], wrong.evaluation[1]);  // load before the loop
    return run(wrong, 1) != run(good, 1);
  }

  void test(const char* name) {
    std::signal(SIGALRM, too_slow);
    judge_all("training", &Programs::training, plan.model, {true, reduces});
    judge_all("evaluation", &Programs::evaluation, plan.model, {false, false});
    if (!plan.predicting.results.empty())
      judge_all("prediction", &Programs::prediction, plan.predicting, {false, false});
    std::printf("%4d rejected, %3d the same bytes, %d missed: %s\n", tally.rejected, tally.same,
                tally.missed, name);
  }
};

template <class... Policies>
void test_mutants(const char* name, const std::vector<int>& lengths) {
  Mutants(Made<Letters, Policies...>{}, letters(lengths)).test(name);
}

}  // namespace sinter::detail::testing
