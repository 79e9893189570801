// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/matmul.hpp"

#include <array>

#include "kernels/cpu/gemm.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Gemm;
using kernel::Matrix;

namespace {

/// A stored matrix that takes part as rows × columns, with room beside it.
template <class T>
struct Operand {
  std::vector<T> data;
  Matrix<T> matrix;

  Operand(int rows, int columns, bool transposed, int room, std::uint64_t seed) {
    if (transposed) std::swap(rows, columns);
    data = normal_values<T>(std::int64_t(rows) * (columns + room) + 1, seed);
    matrix = {data.data(), rows, columns, columns + room, transposed};
  }
  Operand(Operand&&) = default;  // the matrix is of this data, which a copy would not have
  Wider<T> operator()(int row, int column) const {
    if (matrix.transposed) std::swap(row, column);
    return data[row * matrix.stride + column];
  }
};

/// A product and its plain sums, which are computed once for all that are compared with them.
template <class T>
class Product {
  const int m, n, k;
  const bool ta, tb, positive;
  Operand<T> a{m, k, ta, 3, 1}, b{k, n, tb, 5, 2};
  Operand<T> before{m, n, false, 2, 3};
  std::vector<T> bias = normal_values<T>(n, 4);
  std::vector<Wider<T>> want, size;  // Σ a b; Σ |a b|, to which rounding is relative

 public:
  Product(int rows, int columns, int depth, bool transposed_a, bool transposed_b, bool of_positive)
      : m(rows), n(columns), k(depth), ta(transposed_a), tb(transposed_b), positive(of_positive) {
    if (positive)
      for (auto* operand : {&a, &b})
        for (T& v : operand->data) v = std::abs(v);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        Wider<T> sum = 0, sizes = 0;
        for (int p = 0; p < k; ++p) {
          const Wider<T> term = a(i, p) * b(p, j);
          sum += term, sizes += std::abs(term);
        }
        want.push_back(sum), size.push_back(sizes);
      }
  }

  void check(Gemm gemm, kernel::Stream& stream, AddTo addition) const {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(ta);
    CAPTURE(tb);
    CAPTURE(int(addition));
    CAPTURE(positive);
    std::vector<T> c = before.data, got, old;
    kernel::matmul_by<T, T>(gemm, stream, a.matrix, b.matrix, {c.data(), m, n, n + 2},
                            addend_of(addition, c.data(), n + 2, bias.data()));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        got.push_back(c[i * (n + 2) + j]);
        old.push_back(addition == AddTo::itself ? before.data[i * (n + 2) + j] : bias[j]);
      }
    CHECK(share_of_bound(got, want, size, 1 + std::sqrt(k),
                         addition == AddTo::nothing ? Added<T>{} : Added<T>{&old}) <= 1);
    for (int i = 0; i < m; ++i)  // nothing between the rows has changed
      for (int j = n; j < n + 2; ++j) CHECK(c[i * (n + 2) + j] == before.data[i * (n + 2) + j]);
  }
};

/// Sizes on either side of those of a tile and of a block, of operands as they are and transposed.
template <class T>
std::vector<Product<T>> products() {
  std::vector<Product<T>> all;
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      for (auto [m, n, k] :
           {std::array{1, 1, 1}, std::array{3, 17, 5}, std::array{130, 61, 77},
            std::array{95, 33, 300}, std::array{40, 300, 20}, std::array{1, 500, 100},
            std::array{2, 9, 255}, std::array{7, 530, 259}, std::array{11, 70, 600}})
        all.emplace_back(m, n, k, ta, tb, false);
      for (int m : {33, 5}) all.emplace_back(m, 33, 1000, ta, tb, true);  // the worst for sums
    }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("matmul equals the plain sums", T, float, double) {
  if (is_sample && sizeof(T) == 8) return;
  const std::vector<Product<T>> all = products<T>();
  auto check = [&](Gemm gemm) {
    for (int threads : {1, 2, 3}) {
      if (is_sample && threads != 3) continue;
      kernel::Stream stream(threads);
      for (const Product<T>& product : all)
        for (AddTo add : {AddTo::nothing, AddTo::itself, AddTo::row})
          product.check(gemm, stream, add);
    }
  };
  if (kernel::has_vendor()) check(Gemm::vendor);
  on_every_instruction_set([&] { check(Gemm::tiles); });
}

TEST_CASE_TEMPLATE("our tiles give the same bits for every number of threads", T, float, double) {
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      for (int m : {1, 3, 11, 17, 64, 333})
        for (int n : {17, 64, 333, 5000}) {
          if (m * n > (is_sample ? 17 * 333 : 333 * 333)) continue;
          Operand<T> a(m, 300, ta, 3, 1), b(300, n, tb, 5, 2);
          on_every_instruction_set([&] {
            same_on_all_threads([&](kernel::Stream& stream) {
              std::vector<T> c(m * n, 1);
              kernel::matmul_by<T, T>(Gemm::tiles, stream, a.matrix, b.matrix,
                                      kernel::Tensor(c.data(), m, n), {c.data(), n});
              return c;
            });
          });
        }
}

TEST_CASE_TEMPLATE("few rows take the terms of each sum in order, fused or not", T, float, double) {
  const int n = 1041, k = 267, block = 256;  // tails of vectors, of rows at once and of blocks
  const Operand<T> a(11, k, false, 3, 1), b(k, n, false, 5, 2);
  const std::vector<T> bias = normal_values<T>(n, 3);
  std::vector<T> sums, fused;
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < n; ++j) {
      T all = bias[j], all_fused = bias[j];
      for (int first = 0; first < k; first += block) {
        T sum = 0, sum_fused = 0;
        for (int p = first; p < std::min(first + block, k); ++p) {
          const T x = a.data[i * a.matrix.stride + p], y = b.data[p * b.matrix.stride + j];
          const T product = x * y;
          sum += product, sum_fused = std::fma(x, y, sum_fused);
        }
        all += sum, all_fused += sum_fused;
      }
      sums.push_back(all), fused.push_back(all_fused);
    }
  kernel::Stream stream(1);
  on_every_instruction_set([&] {
    for (int m = 1; m <= 11; ++m) {
      std::vector<T> c(m * n, 1);
      kernel::matmul_by<T, T>(Gemm::tiles, stream, {a.data.data(), m, k, a.matrix.stride}, b.matrix,
                              kernel::Tensor(c.data(), m, n), {bias.data()});
      CAPTURE(m);
      CHECK((same_bits(c, std::vector<T>(fused.begin(), fused.begin() + m * n)) ||
             same_bits(c, std::vector<T>(sums.begin(), sums.begin() + m * n))));
    }
  });
}

TEST_CASE_TEMPLATE("a few rows have the bits that each has alone", T, float, double) {
  const int n = 530, k = 600;
  for (bool tb : {false, true}) {
    const Operand<T> a(11, k, false, 3, 1), b(k, n, tb, 5, 2);
    kernel::Stream stream(1);
    on_every_instruction_set([&] {
      std::vector<T> all(11 * n), alone(n);
      const auto product = [&](int row, int rows, std::vector<T>& c) {
        kernel::matmul_by<T, T>(Gemm::tiles, stream,
                                {a.data.data() + row * a.matrix.stride, rows, k, a.matrix.stride},
                                b.matrix, kernel::Tensor(c.data(), rows, n), {});
      };
      product(0, 11, all);
      for (int row : {0, 7, 8, 10}) {
        product(row, 1, alone);
        CHECK(same_bits(alone, std::vector<T>(all.begin() + row * n, all.begin() + (row + 1) * n)));
      }
    });
  }
}

TEST_CASE_TEMPLATE("matmul may have no rows, columns or depth", T, float, double) {
  kernel::Stream stream(2);
  std::vector<T> a(12, 1), c(12, 7);
  for (bool add : {true, false}) {
    kernel::matmul(stream, kernel::Tensor(a.data(), 0, 3), kernel::Tensor(a.data(), 3, 4),
                   kernel::Tensor(c.data(), 0, 4, add));
    kernel::matmul(stream, kernel::Tensor(a.data(), 3, 3), kernel::Tensor(a.data(), 3, 0),
                   kernel::Tensor(c.data(), 3, 0, add));
    CHECK(c == std::vector<T>(12, 7));
  }
  kernel::matmul(stream, kernel::Tensor(a.data(), 3, 0), kernel::Tensor(a.data(), 0, 4),
                 kernel::Tensor(c.data(), 3, 4, true));
  CHECK(c == std::vector<T>(12, 7));
  kernel::matmul(stream, kernel::Tensor(a.data(), 3, 0), kernel::Tensor(a.data(), 0, 4),
                 kernel::Tensor(c.data(), 3, 4));
  CHECK(c == std::vector<T>(12, 0));
}

TEST_CASE_TEMPLATE("matmul overwrites what was not a number, and lets it through from inputs", T,
                   float, double) {
  kernel::Stream stream(2);
  std::vector<T> a(64 * 64, 1), b(64 * 64, 1), c(64 * 64, T(NAN));
  auto product = [&] {
    kernel::matmul(stream, kernel::Tensor(a.data(), 64, 64), kernel::Tensor(b.data(), 64, 64),
                   kernel::Tensor(c.data(), 64, 64));
  };
  product();
  CHECK(c == std::vector<T>(64 * 64, 64));
  a[5 * 64 + 9] = T(NAN);
  product();
  CHECK(std::isnan(c[5 * 64 + 63]));
  CHECK(c[6 * 64] == 64);
}

TEST_CASE_TEMPLATE("matmul repeats its bits", T, float, double) {
  for (int threads : {1, 2, 3}) {
    kernel::Stream stream(threads), other(threads);
    auto a = normal_values<T>(300 * 200, 1), b = normal_values<T>(200 * 150, 2);
    std::vector<T> c(300 * 150), again(300 * 150);
    for (int repeat = 0; repeat < 5; ++repeat) {
      kernel::matmul(repeat ? other : stream, kernel::Tensor(a.data(), 300, 200),
                     kernel::Tensor(b.data(), 200, 150),
                     kernel::Tensor(repeat ? again.data() : c.data(), 300, 150));
      if (repeat) CHECK(same_bits(c, again));
    }
  }
}

TEST_CASE_TEMPLATE("products that run together have the bits of those that do not", T, float,
                   double) {
  for (Gemm gemm : {Gemm::vendor, Gemm::tiles}) {
    if (gemm == Gemm::vendor && !kernel::has_vendor()) continue;
    for (int threads : {1, 2, 3})
      for (int depth : {0, 200}) {
        kernel::Stream stream(threads);
        const auto a = normal_values<T>(300 * 200, 1), b = normal_values<T>(200 * 150, 2),
                   bias = normal_values<T>(150, 3);
        auto both = [&](bool together) {
          std::vector<T> c(2 * 300 * 150, 1);
          auto product = [&](T* to, kernel::Addend<T> addend) {
            kernel::matmul_by<T, T>(gemm, stream, {a.data(), 300, depth, 200},
                                    {b.data(), depth, 150, 150}, kernel::Tensor(to, 300, 150),
                                    addend);
          };
          stream.together(together, [&] {
            product(c.data(), {c.data(), 150});
            product(c.data() + 300 * 150, {bias.data()});
          });
          return c;
        };
        CHECK(same_bits(both(true), both(false)));
      }
  }
}
