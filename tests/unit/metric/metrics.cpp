// SPDX-License-Identifier: Apache-2.0
// Metrics by their definitions, by scikit-learn's figures, and over parts.
#include "sinter/metric/metrics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/matthews.hpp"

namespace sinter::detail::testing::metrics_tests {

struct Rows {
  std::vector<std::int32_t> actual, predicted;
};

template <class M>
double value_of(const std::vector<Rows>& parts, int classes) {
  std::vector<double> sums(std::size_t(M::sums(classes)));
  for (const Rows& part : parts) M::add({classes, part.actual, part.predicted, {}}, sums);
  return M::value(sums, classes);
}
template <class M>
double value_of(const Rows& rows, int classes) {
  return value_of<M>(std::vector{rows}, classes);
}

using Macro = F1<>;
using Micro = F1<{.average = ClassAverage::micro}>;
using Weighted = F1<{.average = ClassAverage::weighted}>;
static_assert(Macro::name == "f1_macro" && Micro::name == "f1_micro" &&
              Weighted::name == "f1_weighted");

/// What scikit-learn 1.9.1 gives (accuracy_score, f1_score, matthews_corrcoef).
struct Known {
  Rows rows;
  int classes;
  double accuracy, macro, micro, weighted, matthews;
};
const Known known[] = {
    {{{0, 1, 1, 0, 1, 0, 1, 1}, {0, 1, 0, 0, 1, 1, 1, 0}},
     2,
     0.625,
     0.6190476190476191,
     0.625,
     0.6309523809523809,
     0.2581988897471611},
    {{{0, 0, 0, 0}, {0, 0, 0, 0}}, 2, 1.0, 1.0, 1.0, 1.0, 0.0},
    {{{0, 0, 0, 1}, {1, 1, 1, 0}}, 2, 0.0, 0.0, 0.0, 0.0, -1.0},
    {{{0, 0, 1, 1}, {1, 1, 1, 1}}, 2, 0.5, 0.3333333333333333, 0.5, 0.3333333333333333, 0.0},
    {{{3, 2, 2, 3, 2, 3, 3, 0, 0, 1, 1, 3, 3, 0, 1, 3, 0, 3, 0, 1,
       3, 1, 1, 1, 2, 1, 3, 1, 1, 2, 2, 2, 2, 3, 3, 3, 2, 2, 1, 3},
      {3, 2, 1, 3, 2, 3, 3, 0, 2, 1, 1, 3, 3, 0, 3, 3, 0, 3, 3, 1,
       3, 2, 1, 1, 1, 3, 3, 1, 1, 0, 2, 2, 2, 3, 3, 3, 3, 2, 1, 3}},
     4,
     0.775,
     0.7425595238095237,
     0.775,
     0.7657738095238095,
     0.6905896102664739},
    {{{0, 2, 2, 0, 2, 3}, {0, 2, 1, 0, 3, 3}},
     6,
     0.6666666666666666,
     0.5416666666666666,
     0.6666666666666666,
     0.6944444444444445,
     0.6271815075053181},
    {{{0}, {1}}, 3, 0.0, 0.0, 0.0, 0.0, 0.0},
    {{{2, 0, 4, 4, 0, 2, 0, 0, 2, 4, 4, 2, 2, 2, 0, 2, 4, 2, 0, 0, 4, 0, 4, 4, 2},
      {3, 0, 2, 4, 0, 2, 0, 6, 4, 3, 5, 6, 2, 0, 5, 2, 1, 1, 1, 0, 2, 0, 1, 2, 2}},
     7,
     0.4,
     0.20204081632653062,
     0.4,
     0.4725714285714286,
     0.2675633285164617},
};

TEST_CASE("metrics of classes are scikit-learn's") {
  for (const Known& k : known) {
    CAPTURE(k.classes);
    CHECK(value_of<Accuracy>(k.rows, k.classes) == doctest::Approx(k.accuracy).epsilon(1e-12));
    CHECK(value_of<Macro>(k.rows, k.classes) == doctest::Approx(k.macro).epsilon(1e-12));
    CHECK(value_of<Micro>(k.rows, k.classes) == doctest::Approx(k.micro).epsilon(1e-12));
    CHECK(value_of<Weighted>(k.rows, k.classes) == doctest::Approx(k.weighted).epsilon(1e-12));
    CHECK(value_of<Matthews>(k.rows, k.classes) == doctest::Approx(k.matthews).epsilon(1e-12));
  }
}

template <class M>
void check_parts(const Rows& all, int classes) {
  std::vector<Rows> parts;
  for (std::size_t at = 0, size = 1; at < all.actual.size(); at += size++) {
    const auto from = std::ptrdiff_t(at),
               to = std::ptrdiff_t(std::min(at + size, all.actual.size()));
    parts.push_back({{all.actual.begin() + from, all.actual.begin() + to},
                     {all.predicted.begin() + from, all.predicted.begin() + to}});
  }
  CHECK(value_of<M>(parts, classes) == value_of<M>(all, classes));
}

TEST_CASE("sums of unequal parts are the sums of the whole, to the bit") {
  std::mt19937 random(1);
  constexpr int classes = 5;
  Rows all;
  for (int k = 0; k < 1000; ++k) {
    all.actual.push_back(int(random() % classes));
    all.predicted.push_back(random() % 3 == 0 ? int(random() % classes) : all.actual.back());
  }
  check_parts<Accuracy>(all, classes);
  check_parts<Macro>(all, classes);
  check_parts<Micro>(all, classes);
  check_parts<Weighted>(all, classes);
  check_parts<Matthews>(all, classes);
}

TEST_CASE("metrics without rows have no value") {
  CHECK(std::isnan(value_of<Accuracy>(Rows{}, 3)));
  CHECK(std::isnan(value_of<Macro>(Rows{}, 3)));
  CHECK(std::isnan(value_of<Micro>(Rows{}, 3)));
  CHECK(std::isnan(value_of<Weighted>(Rows{}, 3)));
  CHECK(std::isnan(value_of<Matthews>(Rows{}, 3)));
}

}  // namespace sinter::detail::testing::metrics_tests
