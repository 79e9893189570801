// SPDX-License-Identifier: Apache-2.0
// The program of one rank alone, with each instruction removed, doubled and moved to every other place: the
// verifier or the simulation of both ranks rejects it, or both compute the same bytes, and none hangs.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>

#include "program/models.hpp"
#include "program/ranks.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/proof/simulate.hpp"

namespace sinter::detail::testing::one_rank_tests {

using Traces = std::vector<std::vector<std::byte>>;

const char* running = "";
void hangs(int) {
  std::fprintf(stderr, "two ranks hang, one of them with %s\n", running);
  _exit(1);
}

template <class R>
class OneRank {
  static_assert(ready<R>());
  const HostBatch batch = letters({5, 3, 6, 2});
  const std::shared_ptr<RecipeView> view = view_of<R>();
  const Programs good = shipped(Plan<R>::view);
  const Model& model = Plan<R>::model;
  Placements shipped_plan{Plan<R>::view, good};
  const Traces expected = run(shipped_plan, 0);
  int not_verified = 0, not_together = 0, same = 0;

  /// What two steps leave on both ranks, one of which runs another plan.
  Traces run(const Placements& other, int rank) {
    Ranks ranks(shipped_plan.plan, view, 2, 1, &other.plan, rank);
    Traces traces;
    for (int step = 1; step <= 2; ++step) {
      ranks.train(batch, step);
      for (int r = 0; r < 2; ++r) traces.push_back(ranks.persistent(r));
    }
    return traces;
  }

  void judge(const Program& mutant, std::size_t t, const std::string& change) {
    if (!verify(model, mutant, {true, true}).fine()) {
      ++not_verified;
      return;
    }
    for (int rank : {0, 1}) judge_on(rank, mutant, t, change);
  }
  void judge_on(int rank, const Program& mutant, std::size_t t, const std::string& change) {
    std::vector<RankProgram> both(2, {good.training, 2});
    both[std::size_t(rank)] = {mutant, 2};
    if (!simulate(model, both).fine()) {
      ++not_together;
      return;
    }
    const std::string what = std::string(good.training[t].kind->name) + " at " + std::to_string(t) +
                             " of rank " + std::to_string(rank) + " " + change;
    running = what.c_str();
    Programs changed = good;
    changed.training = mutant;
    const Placements other(Plan<R>::view, changed);
    alarm(60);
    const bool equal = run(other, rank) == expected;
    alarm(0);
    CHECK_MESSAGE(equal, what << " is accepted, but computes something else");
    same += equal;
  }

 public:
  void test(const char* name) {
    std::signal(SIGALRM, hangs);
    const Program& program = good.training;
    for (std::size_t t = 0; t < program.size(); ++t) {
      Program removed = program, doubled = program;
      removed.erase(removed.begin() + long(t));
      doubled.insert(doubled.begin() + long(t), program[t]);
      judge(removed, t, "removed");
      judge(doubled, t, "doubled");
      for (std::size_t to = 0; to < program.size(); ++to) {
        Program moved = removed;
        moved.insert(moved.begin() + long(to), program[t]);
        if (moved != program) judge(moved, t, "moved to " + std::to_string(to));
      }
    }
    std::printf("%4d not verified, %3d not together, %3d the same bytes: %s\n", not_verified,
                not_together, same, name);
    CHECK(not_together > 0);
    CHECK(same > 0);
  }
};

using TwoEach = Batch<{.global = 4, .micro = 1}>;

TEST_CASE("a change of one rank's program is rejected or harmless: Ddp") {
  OneRank<Made<Letters, Gpt2<tiny>, TwoEach, Ddp<{.bucket_bytes = 500}>>>().test("Ddp");
}
TEST_CASE("a change of one rank's program is rejected or harmless: Zero") {
  OneRank<Made<Letters, Gpt2<tiny>, TwoEach, Zero<{.bucket_bytes = 500}>>>().test("Zero");
}
TEST_CASE("a change of one rank's program is rejected or harmless: Zero, stage 2") {
  OneRank<Made<Letters, Gpt2<tiny>, TwoEach, Zero<{.stage = 2, .bucket_bytes = 500}>>>().test(
      "Zero, stage 2");
}
TEST_CASE("a change of one rank's program is rejected or harmless: Zero, stage 3") {
  OneRank<Made<Letters, Gpt2<tiny>, TwoEach, Zero<{.stage = 3, .bucket_bytes = 500}>>>().test(
      "Zero, stage 3");
}
TEST_CASE("a change of one rank's program is rejected or harmless: SplitBatch") {
  // By itself it has one order that the verifier accepts; running values are summed beside it.
  OneRank<Made<Letters, Counting, TwoEach, SplitBatch<>>>().test("SplitBatch");
}
TEST_CASE("a change of one rank's program is rejected or harmless: running values") {
  OneRank<Made<Letters, Counting, TwoEach, Ddp<>>>().test("Counting");
}

}  // namespace sinter::detail::testing::one_rank_tests
