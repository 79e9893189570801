// SPDX-License-Identifier: Apache-2.0
// How much the ranks of a host read of each other's, as their transport counts it, and what a step
// of each mode reads, against the tables of docs/ranks.md.
#include "comm/volume.hpp"

#include <functional>
#include <string>
#include <vector>

#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/batches.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/sanitized.hpp"

namespace sinter::detail::testing::volume_tests {

/// Bytes that each rank has read when it has done this.
std::vector<double> bytes_read(int ranks, const std::function<void(const World&)>& work) {
  RankProcesses processes(ranks, [&](const World& world, const RankProcesses::Say&) {
    const std::int64_t before = bytes_from_others;
    work(world);
    return std::to_string(bytes_from_others - before);
  });
  std::vector<double> all;
  for (const std::string& said : processes.results()) {
    REQUIRE_MESSAGE(said.find_first_not_of("0123456789") == said.npos, said);
    all.push_back(std::stod(said));
  }
  return all;
}

/// What the first rank reads, each of those between, and the last, by a formula.
struct Formula {
  double first, between, last;
};
/// `padding`: of what is read at most so much more.
void check(const std::string& what, const std::vector<double>& read, const Formula& formula,
           double unit, double padding) {
  for (std::size_t r = 0; r < read.size(); ++r) {
    const double want = r == 0                 ? formula.first
                        : r + 1 == read.size() ? formula.last
                                               : formula.between;
    MESSAGE(what << ", rank " << r << " of " << read.size() << " reads " << read[r] / unit
                 << ", the formula is " << want);
    CHECK(read[r] / unit >= want * .999);  // parts differ by an element of each chunk
    CHECK(read[r] / unit <= want * (1.001 + padding) + 1e-4);
  }
}

TEST_CASE("each transfer moves as much as the table says") {
  constexpr int elements = 12 * 83'333;  // as many for each of 2, 3 and 4 ranks
  using End = Communicator;
  for (const int ranks : {2, 3, 4}) {
    if (is_sample && ranks != 3) continue;
    const double n = ranks, rest = (n - 1) / n;
    const auto check_all = [&](const char* what, Formula formula, const auto& start) {
      const std::vector<double> read = bytes_read(ranks, [&](const World& world) {
        const auto end = shared_memory_rank(world);
        std::vector<float> values(elements, 1);
        start(*end, values.data());
        end->wait(values.data());
        end->barrier();
      });
      check(what, read, formula, double(elements) * sizeof(float), 0);
    };
    check_all("all-reduce", {2 * rest, 2 * rest, 2 * rest},
              [](End& end, float* x) { end.start_sum(x, elements); });
    check_all("reduce-scatter", {rest, rest, rest},
              [](End& end, float* x) { end.start_reduce_scatter(x, elements); });
    check_all("all-gather", {rest, rest, rest},
              [](End& end, float* x) { end.start_all_gather(x, elements); });
    check_all("reduce", {2 * rest, rest, rest},
              [](End& end, float* x) { end.start_reduce(x, elements, 0); });
    check_all("broadcast", {1, 1, 0},
              [](End& end, float* x) { end.start_broadcast(x, elements, end.ranks() - 1); });
    check_all("all-to-all", {rest, rest, rest},
              [](End& end, float* x) { end.start_all_to_all(x, elements); });
    check_all("send and receive", {0, 0, 1}, [](End& end, float* x) {
      if (end.rank() == 0) end.start_send(x, elements, end.ranks() - 1);
      if (end.rank() == end.ranks() - 1) end.start_receive(x, elements, 0);
    });
  }
}

constexpr int steps = 2, micro_batches = 2;
template <class Parallel, int Ranks>
struct Mode : Made<Mlp<{.in = 8, .hidden = 256, .out = 1, .layers = 6}>, UpTo<1>, AdamW<>,
                   Batch<{.global = 4 * micro_batches, .micro = 4 / Ranks}>, Parallel> {};

template <class Parallel, int Ranks>
void check_mode(const char* what, double first, double others) {
  if (is_sample && Ranks == 4) return;
  using R = Mode<Parallel, Ranks>;
  const std::vector<double> read = bytes_read(Ranks, [](const World& world) {
    Trainer<R> trainer({.seed = 1, .threads = 1, .world = world});
    for (int step = 0; step < steps; ++step)
      (void)trainer.step(regression_batch(std::vector(4 * micro_batches, 1), 8, 1, 1));
  });
  constexpr double padding = .01;  // of each unit's ranges, to 16 elements of each rank
  check(what, read, {first, others, others}, steps * 4. * double(Plan<R>::parameters), padding);
}

template <int Ranks>
void check_modes() {
  constexpr double n = Ranks, rest = (n - 1) / n, m = micro_batches;
  check_mode<Ddp<{.bucket_bytes = 1, .ranks = Ranks}>, Ranks>("Ddp", 2 * rest, 2 * rest);
  check_mode<SplitBatch<{.ranks = Ranks}>, Ranks>("SplitBatch", 2 * rest, rest + 1);
  check_mode<Zero<{.bucket_bytes = 1, .ranks = Ranks}>, Ranks>("Zero, stage 1", 2 * rest, 2 * rest);
  check_mode<Zero<{.stage = 2, .bucket_bytes = 1, .ranks = Ranks}>, Ranks>(
      "Zero, stage 2", (m + 1) * rest, (m + 1) * rest);
  // The last unit, which is small, is fetched once in a micro-batch, and all others twice.
  check_mode<Zero<{.stage = 3, .bucket_bytes = 1, .ranks = Ranks}>, Ranks>(
      "Zero, stage 3", 3 * m * rest, 3 * m * rest);
}

TEST_CASE("a step of each mode moves as much as its page says, on two ranks") { check_modes<2>(); }
TEST_CASE("a step of each mode moves as much as its page says, on four ranks") { check_modes<4>(); }

}  // namespace sinter::detail::testing::volume_tests
