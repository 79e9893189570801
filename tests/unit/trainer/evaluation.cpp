// SPDX-License-Identifier: Apache-2.0
// What an evaluation finds of a classifier is the same over processes, of which each reads and predicts its part alone.
#include "sinter/trainer/evaluation.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <sstream>

#include "sinter/data/arrays.hpp"
#include "sinter/layer/binary_cross_entropy.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/metric/exact_classes.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/pearson.hpp"
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

/// A linear model of topics, of which a row may have both.
struct Topics {
  using slot = slot::model;
  static constexpr LabelKind label_kind = LabelKind::several_classes;
  struct Loss {
    static constexpr Value<1> trace(auto& g, Value<width> x, Value<2> topics) {
      auto logits = g("", Linear<width, 2, mlp::like_torch<width>>{}, x);
      return g("loss", BinaryCrossEntropy<2>{}, logits, topics);
    }
  };
  struct Logits {
    static constexpr Value<2> trace(auto& g, Value<width> x) {
      return g("", Linear<width, 2, mlp::like_torch<width>>{}, x);
    }
  };
  static constexpr void trace(auto& g) {
    auto x = g.template values<width>();
    g.result(g.unit("output", Loss{}, x, g.template target_values<2>()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("output", Logits{}, g.template values<width>()));
  }
};

template <class Model, class Measured, class Parallel>
using OfValues = Made<Model, UpTo<1>, Batch<{.global = 24, .micro = 2}>, AdamW<{.lr = 1e-2}>,
                      Parallel, Measured>;
template <class Parallel>
using Numbers = OfValues<Mlp<{.in = width, .hidden = 4, .out = 2}>, Metrics<Pearson>, Parallel>;
template <class Parallel>
using Sets =
    OfValues<Topics, Metrics<ExactClasses, F1<{.average = ClassAverage::samples}>, F1<>>, Parallel>;

/// Two numbers of each row: 0 or 1.
const std::vector<float> values_of_rows = [] {
  std::vector<float> values(2 * most);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k * 5 % 7 % 3 % 2);
  return values;
}();

/// The figures that eval finds, as whole numbers of 1e-7.
template <class R>
std::string figures(const World& world, int ranks, int at_once) {
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
  Trainer<R> trainer(view, {.seed = 3, .threads = 1, .world = world});
  AnySource source(EvaluationArrays(ArrayRows(inputs, width, values_of_rows, 2), at_once));
  std::string text;
  const Evaluation found = *evaluate_all(trainer, source);
  for (const MetricValue& metric : found.metrics)
    text += std::to_string(std::llround(metric.value * 1e7)) + " ";
  return text;
}

template <class R>
std::vector<float> predictions() {
  Trainer<R> trainer({.seed = 3, .threads = 1});
  HostBatch batch;
  for (int row = 1; row <= most; ++row) batch.starts.push_back(row);
  batch.values = {inputs};
  return trainer.predict(batch).values;
}

void check_alike(const std::string& found, const std::string& want) {
  std::istringstream all(found), wanted(want);
  for (double value = 0, other = 0; wanted >> value;) {
    REQUIRE((all >> other));
    CHECK(std::abs(value - other) < 1000);  // logits of other batches may differ in their last bits
  }
}

template <class R>
void check_figures(const std::string& want) {
  for (const int at_once : {1, 7, 64}) {
    CAPTURE(at_once);
    check_alike(figures<R>({}, 2, at_once), want);
    RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
      return figures<R>(world, 2, at_once);
    });
    for (int r = 0; r < 2; ++r) check_alike(processes.result(r), want);
  }
}

TEST_CASE("the correlation of numbers is that of all rows, over batches and processes") {
  const std::vector<float> predicted = predictions<Numbers<Ddp<>>>();
  double sum = 0;
  for (std::size_t column : {0, 1}) {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::size_t row = 0; row < most; ++row) {
      x += double(predicted[2 * row + column]) / most;
      y += double(values_of_rows[2 * row + column]) / most;
    }
    for (std::size_t row = 0; row < most; ++row) {
      const double dx = predicted[2 * row + column] - x, dy = values_of_rows[2 * row + column] - y;
      xx += dx * dx, yy += dy * dy, xy += dx * dy;
    }
    sum += xy / std::sqrt(xx * yy) / 2;
  }
  const std::string found = figures<Numbers<Ddp<>>>({}, 2, 7);
  CHECK(std::stod(found) * 1e-7 == doctest::Approx(sum).epsilon(1e-4));
  CHECK(std::abs(sum) > 1e-3);
  check_figures<Numbers<Ddp<>>>(found);
}

TEST_CASE("figures of several classes of a row are those of all rows, over batches and processes") {
  const std::vector<float> logits = predictions<Sets<Ddp<>>>();
  double exact = 0, of_samples = 0;
  for (std::size_t at = 0; at < logits.size(); at += 2) {
    double right = 0, either = 0;
    for (std::size_t k : {at, at + 1}) {
      const bool has = values_of_rows[k] > 0, says = logits[k] > 0;
      right += has && says;
      either += has + says;
    }
    exact += 2 * right == either;
    of_samples += either > 0 ? 2 * right / either : 0;
  }
  const std::string found = figures<Sets<Ddp<>>>({}, 2, 7);
  double got_exact = 0, got_samples = 0, macro = 0;
  REQUIRE((std::istringstream(found) >> got_exact >> got_samples >> macro));
  CHECK(got_exact * 1e-7 == doctest::Approx(exact / most).epsilon(1e-5));
  CHECK(got_samples * 1e-7 == doctest::Approx(of_samples / most).epsilon(1e-5));
  CHECK(macro > 0);
  check_figures<Sets<Ddp<>>>(found);
}

}  // namespace sinter::detail::testing::evaluation_tests
