// SPDX-License-Identifier: Apache-2.0
// What dropout's masks depend on: seed, step, layer and the token's place; and on nothing else.
#include "sinter/memory/checkpoint.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::dropout_tests {

constexpr int columns = 32, rows = 50, sequences = 4;
constexpr float half = .5f;

struct Start {
  static constexpr Value<columns> trace(auto& g, Value<1> x) {
    return g("", Linear<1, columns>{}, x);
  }
};
/// Two layers in one unit, and that unit twice: every pair of layers must differ.
struct Pair {
  static constexpr Value<columns> trace(auto& g, Value<columns> x) {
    auto y = g("first", Dropout<columns, half>{}, x);
    return g("second", Dropout<columns, half>{}, y);
  }
};
struct Squares {
  static constexpr Value<1> trace(auto& g, Value<columns> x) {
    return g("loss", SumOfSquares<columns>{}, x);
  }
};
template <int Pairs>
struct DropoutsModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("start", Start{}, g.template values<1>());
    g.template target_values<columns>();  // the loss is divided by their number
    g.result(g.unit("end", Squares{}, g.repeat(Pairs, "pair", Pair{}, x)));
  }
};
template <int Micro, int Pairs, class... More>
using Dropouts = Made<DropoutsModel<Pairs>, UpTo<rows>, Fp64, Sgd<{.lr = 0}>,
                      Batch<{.global = sequences, .micro = Micro}>, More...>;

/// Ones: whatever comes in, the first layer makes ones of it.
HostBatch ones() {
  HostBatch batch = sequences_of(std::vector<int>(sequences, rows));
  batch.values = {std::vector<float>(sequences * rows, 1),
                  std::vector<float>(sequences * rows * columns, 0)};
  return batch;
}
void let_out_ones(TrainerCore& trainer) {
  trainer.set_parameter("start.weight", Numbers(columns, 1));
  trainer.set_parameter("start.bias", Numbers(columns, 0));
}
/// The mean square of the results, step by step.
template <class R>
Numbers mean_squares(std::uint64_t seed, int steps) {
  Trainer<R> trainer({.seed = seed, .threads = 2});
  let_out_ones(trainer);
  Numbers result;
  for (int s = 0; s < steps; ++s) result.push_back(applied(trainer, ones()).loss.mean());
  return result;
}

/// k independent masks leave 4^k with probability 2^-k, else 0: the mean is 2^k, and one of two
/// equal masks would double it. Five standard errors.
void check_independent(const Numbers& means, int masks) {
  const double n = sequences * rows * columns, kept = std::pow(.5, masks);
  const double error = std::pow(4, masks) * std::sqrt(kept * (1 - kept) / n);
  REQUIRE(5 * error < std::pow(2, masks) / 2);
  for (double mean : means) CHECK(std::abs(mean - std::pow(2, masks)) < 5 * error);
}

TEST_CASE("layers of a unit, and units of a repeat, have masks of their own") {
  check_independent(mean_squares<Dropouts<4, 1>>(1, 4), 2);
  check_independent(mean_squares<Dropouts<4, 2>>(1, 4), 4);
}

TEST_CASE("masks differ by seed and step, and repeat with them") {
  using R = Dropouts<4, 1>;
  const Numbers want = mean_squares<R>(1, 6);
  CHECK(mean_squares<R>(1, 6) == want);
  Numbers all = want;
  for (std::uint64_t seed : {2, 3}) {
    Numbers other = mean_squares<R>(seed, 6);
    all.insert(all.end(), other.begin(), other.end());
  }
  std::ranges::sort(all);
  auto repeated = std::ranges::unique(all);
  CHECK(repeated.size() <= 1);  // the same number of kept ones may come by chance
}

TEST_CASE("masks do not depend on the split or on recomputation") {
  const Numbers want = mean_squares<Dropouts<4, 2>>(1, 3);
  for (const Numbers& got :
       {mean_squares<Dropouts<1, 2>>(1, 3), mean_squares<Dropouts<2, 2, Checkpoint<{full}>>>(1, 3),
        mean_squares<Dropouts<4, 2, Checkpoint<{selective}>>>(1, 3)})
    CHECK(relative_difference(got, want) < 1e-14);
}

TEST_CASE("outside training nothing is dropped") {
  Trainer<Dropouts<4, 2>> trainer({.threads = 1});
  let_out_ones(trainer);
  CHECK(trainer.evaluate(ones()).mean() == 1);
}

}  // namespace sinter::detail::testing::dropout_tests
