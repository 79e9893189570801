// SPDX-License-Identifier: Apache-2.0
// What an evaluation finds of a classifier is the same over processes, of which each reads and predicts its part alone.
#include "sinter/trainer/evaluation.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <sstream>

#include "sinter/data/arrays.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/model/classifier.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parallel/zero.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::evaluation_tests {

constexpr int width = 3, classes = 4, most = 64;

template <class Parallel>
using By = Made<Classifier<Linear<width, classes, mlp::like_torch<width>>>, UpTo<1>,
                Batch<{.global = 24, .micro = 2}>, AdamW<{.lr = 1e-2}>, Parallel>;
template <int Ranks>
using Divided = By<Zero<{.stage = 3, .ranks = Ranks}>>;

const std::vector<float> inputs = [] {
  std::vector<float> values(most * width);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k * 7 % 13) / 13 - .5f;
  return values;
}();
/// Of some rows there is none.
const std::vector<std::int32_t> classes_of_rows = [] {
  std::vector<std::int32_t> values(most);
  for (int k = 0; k < most; ++k) values[std::size_t(k)] = k * 3 % 5 - 1;
  return values;
}();

/// The first so many rows, and a count of those that were read.
struct Counted {
  EvaluationArrays rows;
  std::shared_ptr<std::atomic<std::int64_t>> read = std::make_shared<std::atomic<std::int64_t>>(0);

  Counted(int all, int at_once)
      : rows(ArrayRows(std::span(inputs).first(std::size_t(all * width)), width,
                       std::span(classes_of_rows).first(std::size_t(all))),
             at_once) {}
  bool next(HostBatch& batch) {
    const bool is_more = rows.next(batch);
    *read += batch.sequences();
    return is_more;
  }
  bool draw(BatchDraw& draw) { return rows.draw(draw); }
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    rows.fill(draw, batch);
    *read += batch.held_rows(0).count();
  }
  SamplerState state() const { return rows.state(); }
  void restore(const SamplerState& saved) { rows.restore(saved); }
};
/// The same, as a source is that was written for one process.
struct Whole {
  Counted counted;
  bool next(HostBatch& batch) { return counted.next(batch); }
  SamplerState state() const { return counted.state(); }
  void restore(const SamplerState& saved) { counted.restore(saved); }
};
static_assert(DividedSource<Counted> && DataSource<Whole> && !DividedSource<Whole>);

/// What eval finds, in bits, and last how many rows this process has read.
template <class R>
std::string evaluated(int ranks, const World& world, const Counted& counted, bool divides) {
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
  Trainer<R> trainer(view, {.seed = 3, .threads = 1, .world = world});
  AnySource source = divides ? AnySource(counted) : AnySource(Whole{counted});
  const Evaluation found = *evaluate_all(trainer, source);
  REQUIRE(found.metrics.size() == 1);
  REQUIRE(found.metrics[0].name == "accuracy");
  std::ostringstream out;
  const double accuracy = found.loss.count > 0 ? found.metrics[0].value : 0;
  out << std::bit_cast<std::uint64_t>(found.loss.sum) << ' ' << found.loss.count << ' '
      << std::llround(accuracy * double(found.loss.count)) << ' ' << *counted.read;
  return out.str();
}

struct Found {
  std::uint64_t loss;
  std::int64_t count, right, read;
  explicit Found(const std::string& text) {
    INFO(text);
    REQUIRE((std::istringstream(text) >> loss >> count >> right >> read));
  }
};

/// How many of the first rows a trainer predicts, by its logits of each row alone.
template <class R>
std::int64_t right_of(int all) {
  Trainer<R> trainer({.seed = 3, .threads = 1});
  std::int64_t right = 0;
  for (int k = 0; k < all; ++k) {
    HostBatch batch;
    batch.starts = {0, 1};
    batch.values = {{inputs.begin() + k * width, inputs.begin() + (k + 1) * width}};
    const std::vector<float> logits = trainer.predict(batch).values;
    right += std::ranges::max_element(logits) - logits.begin() == classes_of_rows[std::size_t(k)];
  }
  return right;
}

/// Rows in all, and in a batch.
struct Shape {
  int all, at_once;
};
constexpr Shape shapes[]{{1, 7}, {3, 7}, {23, 7}, {30, 17}, {64, 3}};

template <class R>
void check_processes(int ranks, bool divides = true) {
  for (const auto [all, at_once] : shapes) {
    CAPTURE(ranks);
    CAPTURE(all);
    CAPTURE(at_once);
    RankProcesses processes(ranks, [&](const World& world, const RankProcesses::Say&) {
      return evaluated<R>(ranks, world, Counted(all, at_once), divides);
    });
    const Found want(evaluated<R>(ranks, {}, Counted(all, at_once), divides));
    CHECK(want.read == all);
    CHECK(want.right == right_of<R>(all));
    for (int r = 0; r < ranks; ++r) {
      const Found got(processes.result(r));
      CHECK(got.loss == want.loss);
      CHECK(got.count == want.count);
      CHECK(got.right == want.right);
      std::int64_t own = 0;
      for (int first = 0; first < all; first += at_once) {
        const int rows = std::min(at_once, all - first);
        own += rows * (r + 1) / ranks - rows * r / ranks;
      }
      CHECK(got.read == (divides ? own : all));
    }
  }
}

TEST_CASE_TEMPLATE("each process predicts the rows alone that it reads, and all know the accuracy",
                   R, By<Ddp<>>, By<SplitBatch<>>) {
  check_processes<R>(2);
  check_processes<R>(4);
}
TEST_CASE("processes that fetch weights predict only the rows that they read, even if none") {
  check_processes<Divided<2>>(2);
  check_processes<Divided<4>>(4);
}
TEST_CASE("rows that every process reads count once") {
  check_processes<By<Ddp<>>>(2, false);
  check_processes<Divided<4>>(4, false);
}
TEST_CASE("some rows are predicted, and others are not") {
  const std::int64_t right = right_of<By<Ddp<>>>(most);
  CHECK(right > 0);
  CHECK(right < most);
}

}  // namespace sinter::detail::testing::evaluation_tests
