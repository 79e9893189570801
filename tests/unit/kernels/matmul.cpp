// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/matmul.hpp"

#include "kernels/cpu/gemm.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
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
  Wider<T> operator()(int row, int column) const {
    if (matrix.transposed) std::swap(row, column);
    return data[row * matrix.stride + column];
  }
};

template <class T>
void check_product(Gemm gemm, kernel::Stream& stream, int m, int n, int k, bool ta, bool tb,
                   AddTo addition, bool positive = false) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(ta);
  CAPTURE(tb);
  CAPTURE(int(addition));
  CAPTURE(positive);
  Operand<T> a(m, k, ta, 3, 1), b(k, n, tb, 5, 2), c(m, n, false, 2, 3), before = c;
  const auto bias = normal_values<T>(n, 4);
  before.matrix.data = before.data.data();
  if (positive)
    for (auto* operand : {&a, &b})
      for (T& v : operand->data) v = std::abs(v);
  kernel::matmul_by<T, T>(gemm, stream, a.matrix, b.matrix, {c.data.data(), m, n, n + 2},
                          addend_of(addition, c.data.data(), n + 2, bias.data()));
  std::vector<T> got, old;
  std::vector<Wider<T>> want, size;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Wider<T> sum = 0, sizes = 0;
      for (int p = 0; p < k; ++p) sum += a(i, p) * b(p, j), sizes += std::abs(a(i, p) * b(p, j));
      got.push_back(c.data[i * (n + 2) + j]),
          old.push_back(addition == AddTo::itself ? before.data[i * (n + 2) + j] : bias[j]);
      want.push_back(sum), size.push_back(sizes);
    }
  CHECK(share_of_bound(got, want, size, 1 + std::sqrt(k),
                       addition == AddTo::nothing ? Added<T>{} : Added<T>{&old}) <= 1);
  for (int i = 0; i < m; ++i)  // nothing between the rows has changed
    for (int j = n; j < n + 2; ++j) CHECK(c.data[i * (n + 2) + j] == before.data[i * (n + 2) + j]);
}

}  // namespace

TEST_CASE_TEMPLATE("matmul equals the plain sums", T, float, double) {
  auto check = [](Gemm gemm) {
    for (int threads : {1, 2, 3}) {
      if (is_sample && (threads != 3 || sizeof(T) == 8)) continue;
      kernel::Stream stream(threads);
      for (bool ta : {false, true})
        for (bool tb : {false, true})
          for (AddTo add : {AddTo::nothing, AddTo::itself, AddTo::row}) {
            check_product<T>(gemm, stream, 1, 1, 1, ta, tb, add);
            check_product<T>(gemm, stream, 3, 17, 5, ta, tb, add);
            check_product<T>(gemm, stream, 130, 61, 77, ta, tb, add);
            check_product<T>(gemm, stream, 95, 33, 300, ta, tb, add);
            check_product<T>(gemm, stream, 40, 300, 20, ta, tb, add);
            check_product<T>(gemm, stream, 1, 500, 100, ta, tb, add);
            check_product<T>(gemm, stream, 2, 9, 255, ta, tb, add);
            check_product<T>(gemm, stream, 7, 530, 259, ta, tb, add);
            check_product<T>(gemm, stream, 11, 70, 600, ta, tb, add);
            check_product<T>(gemm, stream, 33, 33, 1000, ta, tb, add, true);  // the worst for sums
            check_product<T>(gemm, stream, 5, 33, 1000, ta, tb, add, true);
          }
    }
  };
  if (kernel::has_vendor()) check(Gemm::vendor);
  on_every_instruction_set([&] { check(Gemm::tiles); });
}

TEST_CASE_TEMPLATE("our tiles give the same bits for every number of threads", T, float, double) {
  on_every_instruction_set([] {
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (int m : {1, 3, 11, 17, 64, 333})
          for (int n : {17, 64, 333, 5000}) {
            if (m * n > (is_sample ? 17 * 333 : 333 * 333)) continue;
            Operand<T> a(m, 300, ta, 3, 1), b(300, n, tb, 5, 2);
            same_on_all_threads([&](kernel::Stream& stream) {
              std::vector<T> c(m * n, 1);
              kernel::matmul_by<T, T>(Gemm::tiles, stream, a.matrix, b.matrix,
                                      kernel::Tensor(c.data(), m, n), {c.data(), n});
              return c;
            });
          }
  });
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
