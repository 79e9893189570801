// SPDX-License-Identifier: Apache-2.0
// Products in tiles of a matrix unit: by AMX, and by an emulation of its instructions everywhere.
#include <cstring>
#include <random>

#include "support/emulated_tiles.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

using kernel::Addend;
using kernel::Matrix;

struct Emulated {
  template <class T, class C>
  static void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
    kernel::AmxProduct<EmulatedTiles>::product<T, C>(a, b, c, addend);
  }
};
struct Processor {
  static bool there() {
    if (!kernel::has_amx()) MESSAGE("skipped: this processor has no AMX");
    return kernel::has_amx();
  }
  template <class T, class C>
  static void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
    kernel::gemm_amx<T, C>(a, b, c, addend);
  }
};

std::mt19937 random_bits;
int between(int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random_bits);
}

/// A matrix in the middle of NaNs.
template <class T>
struct Surrounded {
  std::vector<T> values;
  Matrix<T> matrix;

  Surrounded(int m, int n, bool transposed) {
    const int rows = transposed ? n : m, columns = transposed ? m : n, before = between(0, 40),
              stride = columns + between(1, 20);
    values.assign(std::size_t(before + (rows + 1) * stride), T(NAN));
    matrix = {values.data() + before, rows, columns, stride, transposed};
    std::normal_distribution<float> normal;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) matrix.data[r * stride + c] = T(normal(random_bits));
  }
  Matrix<const T> view() const {
    return {matrix.data, matrix.rows, matrix.columns, matrix.stride, matrix.transposed};
  }
  /// As it is multiplied.
  double operator()(int r, int c) const {
    if (matrix.transposed) std::swap(r, c);
    return double(float(BFloat16(float(matrix.data[r * matrix.stride + c]))));
  }
};

/// A product by its definition, once for all that are compared with it: Σ a b, and Σ |a b|.
struct PlainSums {
  std::vector<double> value, magnitude;

  template <class T>
  PlainSums(int m, int n, int k, const Surrounded<T>& a, const Surrounded<T>& b) {
    std::vector<double> rows, columns;
    for (int i = 0; i < m; ++i)
      for (int p = 0; p < k; ++p) rows.push_back(a(i, p));
    for (int j = 0; j < n; ++j)
      for (int p = 0; p < k; ++p) columns.push_back(b(p, j));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const double *left = rows.data() + i * k, *right = columns.data() + j * k;
        double sum = 0, sizes = 0;
        for (int p = 0; p < k; ++p) {
          const double term = left[p] * right[p];
          sum += term, sizes += std::abs(term);
        }
        value.push_back(sum), magnitude.push_back(sizes);
      }
  }
};

enum class Added { nothing, itself, row, other };

/// A product of m × k by k × n, and what is added.
template <class T, class C>
struct Task {
  int m, n, k;
  Added added = Added(between(0, 3));
  Surrounded<T> a{m, k, bool(between(0, 1))}, b{k, n, bool(between(0, 1))};
  Surrounded<C> before{m, n, false}, other{m, n, false};

  /// What is added to a c that lies here.
  Addend<C> addend(C* c) const {
    if (added == Added::nothing) return {};
    if (added == Added::itself) return {c, before.matrix.stride};
    return {other.matrix.data, added == Added::row ? 0 : other.matrix.stride};
  }

  /// c, cut into four at this row and column.
  template <class Unit>
  std::vector<C> cut(int row, int column) const {
    std::vector<C> to = before.values;
    C* c = to.data() + (before.matrix.data - before.values.data());
    const Matrix<C> all{c, m, n, before.matrix.stride};
    for (auto [top, bottom] : {std::pair{0, row}, {row, m}})
      for (auto [left, right] : {std::pair{0, column}, {column, n}})
        if (top < bottom && left < right)
          Unit::template multiply<T, C>(
              rows_of(a.view(), top, bottom), columns_of(b.view(), left, right),
              columns_of(rows_of(all, top, bottom), left, right), addend(c).from(top, left));
    return to;
  }

  /// What matmul()'s header promises, where each part of the depth is one more sum; and that nothing
  /// beside c was written.
  bool fits(const std::vector<C>& got, const PlainSums& plain) const {
    std::vector<C> expected_beside = got;
    const auto first = before.matrix.data - before.values.data();
    bool fine = true;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const auto at = std::size_t(first + i * before.matrix.stride + j);
        double value = plain.value[std::size_t(i * n + j)];
        const C* start = before.values.data() + first;
        const Addend<C> plus = addend(const_cast<C*>(start));
        if (plus) value += double(float(*plus.at(i, j)));
        const double bound = (1 + std::sqrt(k) + k / 256) * 0x1p-23 *
                                 (plain.magnitude[std::size_t(i * n + j)] + std::abs(value)) +
                             (sizeof(C) == 2 ? 0x1p-8 * std::abs(value) : 0);
        fine = fine && std::abs(double(float(got[at])) - value) <= bound;
        expected_beside[at] = before.values[at];
      }
    return fine && same_bits(expected_beside, before.values);
  }
};

void each_size(const auto& visit) {
  random_bits.seed(1);
  for (int s : {1, 16, 17, 33, 64})
    for (int k : {1, 31, 32, 33, 257, 513}) visit(s, s, k), visit(33, s, k);
  visit(20, 40, 1100);
  visit(540, 300, is_sample ? 130 : 1030);  // more rows and columns than are kept beside c
  visit(40, 1100, 300);                     // several groups of panels
  for (int turn = 0; turn < 20; ++turn) visit(between(1, 100), between(1, 100), between(1, 600));
}

template <class T, class C>
struct Types {
  using From = T;
  using To = C;
};

TEST_CASE_TEMPLATE("a product in tiles is within its bound, and has the same bits however c is cut",
                   Pair, Types<BFloat16, BFloat16>, Types<BFloat16, float>, Types<float, float>) {
  const bool has_processor = Processor::there();
  each_size([&](int m, int n, int k) {
    const Task<typename Pair::From, typename Pair::To> task{m, n, k};
    const PlainSums plain(m, n, k, task.a, task.b);
    const int row = between(0, m), column = between(0, n);
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(int(task.added));
    auto check = [&]<class Unit>(Unit) {
      const auto whole = task.template cut<Unit>(m, n);
      CHECK(task.fits(whole, plain));
      CHECK(same_bits(whole, task.template cut<Unit>(row, column)));
    };
    check(Emulated{});
    if (has_processor) check(Processor{});
  });
}

TEST_CASE("the emulation has the bits of the processor, subnormal numbers included") {
  if (!Processor::there()) return;
  each_size([&](int m, int n, int k) {
    Task<BFloat16, float> task{m, n, k};
    task.a.matrix.data[0].bits = 0x0003;
    task.b.matrix.data[0].bits = 0x7f00;  // their product is normal, but for the flush
    CHECK(same_bits(task.cut<Emulated>(m, n), task.cut<Processor>(m, n)));
  });
}

TEST_CASE_TEMPLATE("matmul by AMX keeps its bounds", C, BFloat16, float) {
  if (Processor::there()) check_matmuls<BFloat16, C>(kernel::Gemm::amx);
}

}  // namespace
}  // namespace sinter::detail::testing
