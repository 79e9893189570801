// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels with narrow elements share.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/kernels/matmul.hpp"

#include "kernels/cpu/gemm.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace sinter::detail::testing {

using Floats = std::vector<float>;

/// Packed sequences, one of them empty.
inline const std::vector<std::int32_t> starts{0, 5, 6, 23, 23, 60};
constexpr int sequences = 5, rows = 60;

/// The largest relative error of rounding to H.
template <class H>
constexpr double half_ulp = std::is_same_v<H, BFloat16> ? 0x1p-8 : 0x1p-11;

template <class H>
Floats wide(const std::vector<H>& x) {
  return {x.begin(), x.end()};
}
template <class H>
std::vector<H> narrow(const Floats& x) {
  std::vector<H> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = H(x[i]);
  return result;
}

/// Whether `got` is `want` rounded once, up to errors of single precision.
template <class H>
bool nearly(const std::vector<H>& got, const Floats& want) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(float(got[i]) - want[i]) <= half_ulp<H> * std::abs(want[i]) + 1e-6))
      return false;
  return got.size() == want.size();
}

/// A matrix product in double precision.
struct Product {
  std::vector<double> value, magnitude;  // Σ a b; Σ |a b|, to which rounding is relative
};
template <class T>
Product product(const T* a, const T* b, int m, int n, int k, bool a_transposed, bool b_transposed) {
  Product p{std::vector<double>(m * n), std::vector<double>(m * n)};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) {
        double x = double(float(a[a_transposed ? l * m + i : i * k + l]));
        x *= double(float(b[b_transposed ? j * k + l : l * n + j]));
        p.value[i * n + j] += x, p.magnitude[i * n + j] += std::abs(x);
      }
  return p;
}

/// Operands of a product and what it is by definition, computed once for all that multiply them.
template <class H>
struct Factors {
  std::vector<H> a, b;
  Product want;

  static const Factors& of(int m, int n, int k, bool a_transposed, bool b_transposed) {
    static std::map<std::array<int, 5>, Factors> known;
    Factors& found = known[{m, n, k, a_transposed, b_transposed}];
    if (found.a.empty()) {
      found.a = normal_values<H>(m * k, 1), found.b = normal_values<H>(k * n, 2);
      found.want = product(found.a.data(), found.b.data(), m, n, k, a_transposed, b_transposed);
    }
    return found;
  }
};

/// Checks that results are fp32 sums of exact products in any order: they have k + 1 roundings, and
/// one more to a narrow C.
template <class H, class C>
void check_matmul(kernel::Gemm gemm, int m, int n, int k, bool a_transposed, bool b_transposed,
                  AddTo add) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(a_transposed);
  CAPTURE(b_transposed);
  CAPTURE(int(add));
  const auto& [a, b, want] = Factors<H>::of(m, n, k, a_transposed, b_transposed);
  const auto before = normal_values<C>(m * n, 3), bias = normal_values<C>(n, 4);
  auto matrix = [](const std::vector<H>& values, int r, int c, bool transposed) {
    return transposed ? kernel::transposed(kernel::Tensor(values.data(), c, r))
                      : kernel::Tensor(values.data(), r, c);
  };
  const auto got = same_on_all_threads([&](Stream& s) {
    auto c = before;
    kernel::matmul_by<H, C>(gemm, s, matrix(a, m, k, a_transposed), matrix(b, k, n, b_transposed),
                            kernel::Tensor(c.data(), m, n),
                            addend_of(add, c.data(), n, bias.data()));
    return c;
  });
  bool fine = true;
  for (int i = 0; i < m * n; ++i) {
    const C old = add == AddTo::nothing ? C(0) : add == AddTo::itself ? before[i] : bias[i % n];
    double value = want.value[i] + double(float(old));
    double bound = (k + 2) * 0x1p-24 * (want.magnitude[i] + std::abs(value));
    if (sizeof(C) == 2) bound += half_ulp<H> * std::abs(value) + 0x1p-25;
    fine = fine && std::abs(double(float(got[i])) - value) <= bound;
  }
  CHECK(fine);
}

template <class H, class C>
void check_matmuls(kernel::Gemm gemm) {
  if (is_sample && std::is_same_v<H, Float16>) return;
  for (bool a_transposed : {false, true})
    for (bool b_transposed : {false, true})
      for (AddTo add : {AddTo::nothing, AddTo::itself, AddTo::row})
        for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{13, 33, 7}, std::array{31, 70, 64},
                               std::array{65, 300, 301}}) {
          if (is_sample && m == 65 && add != AddTo::row) continue;
          check_matmul<H, C>(gemm, m, n, k, a_transposed, b_transposed, add);
        }
  check_matmul<H, C>(gemm, 257, 40, 600, false, false, AddTo::itself);
  check_matmul<H, C>(gemm, 40, 33, 1100, true, true, AddTo::row);
}

/// Checks that a narrow product is the wide one, rounded once: bit by bit, infinities and NaN
/// included.
template <class H>
void check_rounded_product(kernel::Gemm gemm, int m, int n, int k, AddTo add) {
  CAPTURE(k);
  CAPTURE(int(add));
  const auto a = normal_values<H>(m * k, 1), b = normal_values<H>(k * n, 2);
  auto before = normal_values<H>(m * n, 3), bias = normal_values<H>(n, 4);
  before[n] = bias[0] = H(INFINITY), before[n + 1] = bias[1] = H(NAN);
  before[n + 2] = bias[2] = H(std::is_same_v<H, BFloat16> ? 0x1.fep127f : 0x1.ffcp15f);
  Stream stream(1);
  const auto multiply = [&]<class C>(std::vector<C> c, const std::vector<C>& row) {
    kernel::matmul_by<H, C>(gemm, stream, kernel::Tensor(a.data(), m, k),
                            kernel::Tensor(b.data(), k, n), kernel::Tensor(c.data(), m, n),
                            addend_of(add, c.data(), n, row.data()));
    return c;
  };
  CHECK(same_bits(multiply(before, bias), narrow<H>(multiply(wide(before), wide(bias)))));
}

/// Of depths up to that of a block of either product, and without an addend, which is added to
/// the sum of all blocks or to that of the first one, of more.
template <class H>
void check_rounded_products(kernel::Gemm gemm) {
  for (AddTo add : {AddTo::nothing, AddTo::itself, AddTo::row})
    for (int k : {1, 64, 255, 256}) check_rounded_product<H>(gemm, 19, 77, k, add);
  for (int k : {257, 512, 513, 1100}) check_rounded_product<H>(gemm, 260, 77, k, AddTo::nothing);
}

}  // namespace sinter::detail::testing
