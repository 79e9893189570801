// SPDX-License-Identifier: Apache-2.0
// Metrics of rows with several classes and of numbers, by the figures of scikit-learn and SciPy, and
// over parts. scripts/metrics_reference.py prints the tables.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sinter/metric/exact_classes.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/pearson.hpp"
#include "sinter/metric/precision.hpp"
#include "sinter/metric/recall.hpp"

namespace sinter::detail::testing::sets_tests {

using enum ClassAverage;
static_assert(Precision<{.average = micro}>::name == "precision_micro");
static_assert(Recall<>::name == "recall_macro" && F1<{.average = samples}>::name == "f1_samples");
static_assert(ClassMetric<F1<>> && ClassSetMetric<F1<>> && !NumberMetric<F1<>>);
static_assert(!ClassMetric<F1<{.average = samples}>> && ClassSetMetric<F1<{.average = samples}>>);
static_assert(!ClassMetric<ExactClasses> && ClassSetMetric<ExactClasses> && NumberMetric<Pearson>);

/// Numbers below 256, as the script draws them.
class Draws {
  std::uint32_t state;

 public:
  explicit Draws(std::uint32_t seed) : state(seed) {}
  int next() {
    state = state * 1664525 + 1013904223;
    return int(state >> 24);
  }
};

/// Rows with any number of classes.
struct Sets {
  int classes;
  std::vector<std::uint8_t> actual, predicted;

  Sets(std::uint32_t seed, int rows, int width, int share) : classes(width) {
    Draws draws(seed);
    for (int k = 0; k < rows * classes; ++k) {
      const bool has = draws.next() < share, wrong = draws.next() < 64;
      actual.push_back(has);
      predicted.push_back(has != wrong);
    }
  }
  /// Adds the rows in parts of so many.
  template <class M>
  double value(std::size_t rows_at_once) const {
    std::vector<double> sums(std::size_t(M::sums(classes)));
    const std::size_t most = rows_at_once * std::size_t(classes);
    for (std::size_t at = 0; at < actual.size(); at += most) {
      const std::size_t count = std::min(most, actual.size() - at);
      M::add({classes,
              std::span(actual).subspan(at, count),
              std::span(predicted).subspan(at, count),
              {}},
             sums);
    }
    return M::value(sums, classes);
  }
};

template <class M>
void check(const Sets& sets, double known) {
  CAPTURE(M::name);
  CHECK(sets.value<M>(1 << 20) == doctest::Approx(known).epsilon(1e-12));
  CHECK(sets.value<M>(3) == doctest::Approx(known).epsilon(1e-12));
}

/// What scikit-learn 1.9.1 gives: accuracy_score, and f1_score, precision_score and recall_score by
/// macro, micro, weighted and samples, with zero_division = 0.
struct KnownSets {
  std::uint32_t seed;
  int rows, classes, share;
  double figures[13];
};
const KnownSets known_sets[] = {
    {1,
     64,
     5,
     90,
     {0.234375, 0.6567975883765358, 0.6636363636363637, 0.6677335144508232, 0.5078497023809523,
      0.5937800625300624, 0.5934959349593496, 0.6058651996151996, 0.49218749999999994,
      0.7439103641456584, 0.7525773195876289, 0.7525773195876289, 0.5846354166666666}},
    {2,
     200,
     9,
     40,
     {0.08, 0.4828119936175198, 0.48552338530066813, 0.48776358901016587, 0.40429365079365076,
      0.35951609449348815, 0.3603305785123967, 0.3641412033405883, 0.34413095238095237,
      0.7401433876962241, 0.7440273037542662, 0.7440273037542662, 0.5779166666666667}},
    {3,
     7,
     12,
     12,
     {0.0, 0.03333333333333333, 0.1, 0.4, 0.09523809523809523, 0.027777777777777776,
      0.05555555555555555, 0.3333333333333333, 0.07142857142857142, 0.041666666666666664, 0.5, 0.5,
      0.14285714285714285}},
    {4, 6, 3, 0, {0.6666666666666666, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {5,
     1,
     4,
     128,
     {0.0, 0.5, 0.8, 0.6666666666666666, 0.8, 0.5, 1.0, 0.6666666666666666, 1.0, 0.5,
      0.6666666666666666, 0.6666666666666666, 0.6666666666666666}},
};

TEST_CASE("metrics of several classes of a row are scikit-learn's, in whatever parts") {
  for (const auto& [seed, rows, classes, share, figures] : known_sets) {
    CAPTURE(seed);
    const Sets sets(seed, rows, classes, share);
    check<ExactClasses>(sets, figures[0]);
    check<F1<>>(sets, figures[1]);
    check<F1<{.average = micro}>>(sets, figures[2]);
    check<F1<{.average = weighted}>>(sets, figures[3]);
    check<F1<{.average = samples}>>(sets, figures[4]);
    check<Precision<>>(sets, figures[5]);
    check<Precision<{.average = micro}>>(sets, figures[6]);
    check<Precision<{.average = weighted}>>(sets, figures[7]);
    check<Precision<{.average = samples}>>(sets, figures[8]);
    check<Recall<>>(sets, figures[9]);
    check<Recall<{.average = micro}>>(sets, figures[10]);
    check<Recall<{.average = weighted}>>(sets, figures[11]);
    check<Recall<{.average = samples}>>(sets, figures[12]);
  }
}

/// The figures of rows with one class each, without samples.
struct KnownClasses {
  std::uint32_t seed;
  int rows, classes;
  double figures[9];
};
const KnownClasses known_classes[] = {
    {6,
     100,
     4,
     {0.23838019250253292, 0.25, 0.25341691995947313, 0.24015151515151514, 0.25,
      0.25812121212121214, 0.2376918158567775, 0.25, 0.25}},
    {7, 9, 7, {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {8, 2, 3, {0.3333333333333333, 0.5, 0.6666666666666666, 0.5, 0.5, 1.0, 0.25, 0.5, 0.5}},
};

TEST_CASE("precision and recall of rows with one class are scikit-learn's") {
  for (const auto& [seed, rows, classes, figures] : known_classes) {
    CAPTURE(seed);
    Draws draws(seed);
    std::vector<std::int32_t> actual, predicted;
    for (int row = 0; row < rows; ++row) {
      actual.push_back(draws.next() % classes);
      predicted.push_back(draws.next() % classes);
    }
    const auto check_one = [&]<class M>(M, double known) {
      CAPTURE(M::name);
      std::vector<double> sums(std::size_t(M::sums(classes)));
      M::add({classes, actual, predicted, {}}, sums);
      CHECK(M::value(sums, classes) == doctest::Approx(known).epsilon(1e-12));
    };
    check_one(F1<>{}, figures[0]);
    check_one(F1<{.average = micro}>{}, figures[1]);
    check_one(F1<{.average = weighted}>{}, figures[2]);
    check_one(Precision<>{}, figures[3]);
    check_one(Precision<{.average = micro}>{}, figures[4]);
    check_one(Precision<{.average = weighted}>{}, figures[5]);
    check_one(Recall<>{}, figures[6]);
    check_one(Recall<{.average = micro}>{}, figures[7]);
    check_one(Recall<{.average = weighted}>{}, figures[8]);
  }
}

double pearson_of(const std::vector<float>& actual, const std::vector<float>& predicted,
                  int columns, std::size_t rows_at_once) {
  std::vector<double> sums(std::size_t(Pearson::sums(columns)));
  const std::size_t most = rows_at_once * std::size_t(columns);
  for (std::size_t at = 0; at < actual.size(); at += most) {
    const std::size_t count = std::min(most, actual.size() - at);
    Pearson::add(
        {columns, std::span(actual).subspan(at, count), std::span(predicted).subspan(at, count)},
        sums);
  }
  return Pearson::value(sums, columns);
}

/// What SciPy's pearsonr gives, as the mean over columns.
struct KnownNumbers {
  std::uint32_t seed;
  int rows, columns;
  double pearson;
};
const KnownNumbers known_numbers[] = {
    {9, 50, 1, 0.7063331305205048},
    {10, 333, 3, 0.69605265437054},
    {11, 2, 1, -1.0},
};

TEST_CASE("the correlation of numbers is SciPy's, in whatever parts, to the bit") {
  for (const auto& [seed, rows, columns, known] : known_numbers) {
    CAPTURE(seed);
    Draws draws(seed);
    std::vector<float> actual, predicted;
    for (int k = 0; k < rows * columns; ++k) {
      const int a = draws.next(), b = draws.next();
      actual.push_back(float(a) / 16);
      predicted.push_back(float(a + b) / 16);
    }
    const double found = pearson_of(actual, predicted, columns, 1 << 20);
    CHECK(found == doctest::Approx(known).epsilon(1e-12));
    for (std::size_t rows_at_once : {1, 7, 40})
      CHECK(pearson_of(actual, predicted, columns, rows_at_once) == found);
    for (float& number : predicted) number = 3 - 2 * number;  // turned, moved and stretched
    CHECK(pearson_of(actual, predicted, columns, 9) == doctest::Approx(-known).epsilon(1e-12));
    for (float& number : predicted) number = number * 1e-3f + 1000;  // a spread far below the mean
    CHECK(pearson_of(actual, predicted, columns, 9) == doctest::Approx(-known).epsilon(1e-4));
  }
}

TEST_CASE("figures that nothing defines are NaN") {
  CHECK(std::isnan(pearson_of({}, {}, 2, 1)));
  CHECK(std::isnan(pearson_of({1, 2, 3}, {2, 2, 2}, 1, 1)));
  CHECK(std::isnan(pearson_of({5, 5, 5}, {1, 2, 3}, 1, 1)));
  CHECK(std::isnan(pearson_of({1, 2}, {1, std::numeric_limits<float>::quiet_NaN()}, 1, 1)));
  const Sets none(1, 0, 3, 90);
  CHECK(std::isnan(none.value<ExactClasses>(1)));
  CHECK(std::isnan(none.value<F1<>>(1)));
  CHECK(std::isnan(none.value<Precision<{.average = micro}>>(1)));
  CHECK(std::isnan(none.value<Recall<{.average = weighted}>>(1)));
  CHECK(std::isnan(none.value<F1<{.average = samples}>>(1)));
}

}  // namespace sinter::detail::testing::sets_tests
