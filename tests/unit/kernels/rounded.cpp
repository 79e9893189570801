// SPDX-License-Identifier: Apache-2.0
// Products of fp32 whose inputs are rounded: MatmulInputs::rounded.
#include "sinter/kernels/matmul_rate.hpp"
#include "unit/kernels/narrow.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Gemm;
using kernel::MatmulInputs;
using kernel::MatmulUnit;
using sinter::BFloat16;

namespace {

/// A product of m × k by k × n, as it lies in memory.
struct Shape {
  int m, n, k;
  bool a_transposed, b_transposed, add;
};

void each_shape(const auto& visit) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (bool add : {false, true})
        for (auto [m, n, k] :
             {std::array{1, 1, 1}, std::array{3, 17, 5}, std::array{31, 70, 64},
              std::array{65, 300, 301}, std::array{257, 40, 600}, std::array{40, 33, 1100}})
          if (!is_sample || m * k < 3000 || (a && !b && add)) visit(Shape{m, n, k, a, b, add});
}

template <class T>
kernel::Matrix<const T> operand(const std::vector<T>& values, int rows, int columns,
                                bool transposed) {
  return transposed ? kernel::transposed(kernel::Tensor(values.data(), columns, rows))
                    : kernel::Tensor(values.data(), rows, columns);
}

Floats before(const Shape& s) { return normal_values<float>(s.m * s.n, 3); }

template <class T>
Floats product_by(Gemm gemm, kernel::Stream& stream, const Shape& s, const std::vector<T>& a,
                  const std::vector<T>& b) {
  Floats c = before(s);
  kernel::matmul_by<T, float>(
      gemm, stream, operand(a, s.m, s.k, s.a_transposed), operand(b, s.k, s.n, s.b_transposed),
      kernel::Tensor(c.data(), s.m, s.n),
      s.add ? kernel::Addend<float>{c.data(), s.n} : kernel::Addend<float>{});
  return c;
}

const Factors<float>& factors_of(const Shape& s) {
  return Factors<float>::of(s.m, s.n, s.k, s.a_transposed, s.b_transposed);
}

/// What Tf32's header promises.
void check_bound(const Shape& s, const Product& want, const Floats& got) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  const Floats old = before(s);
  const double factor = 0x1p-7 + 0x1p-16 + (1 + std::sqrt(s.k)) * epsilon<float>();
  bool fine = true;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double value = want.value[i] + (s.add ? double(old[i]) : 0);
    const double bound = factor * want.magnitude[i] + epsilon<float>() * std::abs(value);
    fine = fine && std::abs(double(got[i]) - value) <= bound;
  }
  CHECK(fine);
}

TEST_CASE("a rounding product is within its bound, and ours has the same bits for all threads") {
  auto check = [](Gemm gemm) {
    each_shape([&](const Shape& s) {
      const auto& [a, b, want] = factors_of(s);
      auto compute = [&](kernel::Stream& stream) { return product_by(gemm, stream, s, a, b); };
      if (gemm != Gemm::vendor) return check_bound(s, want, same_on_all_threads(compute));
      for (int threads : {1, 2, 3}) {
        kernel::Stream stream(threads);
        check_bound(s, want, compute(stream));
      }
    });
  };
  on_every_instruction_set([&] { check(Gemm::tiles); });  // which rounds nothing
  if (kernel::has_pairs()) check(Gemm::pairs);
  if (kernel::has_amx()) check(Gemm::amx);
  check(kernel::preferred_gemm<float>(kernel::MatmulInputs::rounded));
}

TEST_CASE("products of fp32 by units of BFloat16 are those of their roundings, bit for bit") {
  kernel::Stream stream(2);
  auto check = [&](Gemm gemm, bool has) {
    if (!has) {
      MESSAGE("skipped: this processor has no such unit");
      return;
    }
    each_shape([&](const Shape& s) {
      const Factors<float>& factors = factors_of(s);
      const Floats &a = factors.a, &b = factors.b;
      CHECK(same_bits(product_by(gemm, stream, s, a, b),
                      product_by(gemm, stream, s, narrow<BFloat16>(a), narrow<BFloat16>(b))));
    });
  };
  check(Gemm::pairs, kernel::has_pairs());
  check(Gemm::amx, kernel::has_amx());
}

TEST_CASE("a stream's rule decides for fp32, and for nothing else") {
  kernel::Stream whole(2), rounds(whole, MatmulInputs::rounded);
  CHECK(whole.matmul_inputs() == MatmulInputs::whole);
  CHECK(rounds.matmul_inputs() == MatmulInputs::rounded);
  CHECK(rounds.threads() == 2);
  auto multiplied = [](kernel::Stream& stream, const auto& a) {
    auto c = a;
    kernel::matmul(stream, kernel::Tensor(a.data(), 64, 64), kernel::Tensor(a.data(), 64, 64),
                   kernel::Tensor(c.data(), 64, 64));
    return c;
  };
  const Floats a = normal_values<float>(64 * 64, 1);
  const bool same = same_bits(multiplied(whole, a), multiplied(rounds, a));
  CHECK(same == (kernel::matmul_unit<float>(MatmulInputs::rounded) == MatmulUnit::own));
  const auto doubles = normal_values<double>(64 * 64, 1);
  CHECK(same_bits(multiplied(whole, doubles), multiplied(rounds, doubles)));
  const auto halves = narrow<BFloat16>(a);
  CHECK(same_bits(multiplied(whole, halves), multiplied(rounds, halves)));
}

TEST_CASE("numbers that are not finite come through the rounding") {
  kernel::Stream stream(1), rounds(stream, MatmulInputs::rounded);
  Floats a(32 * 32, 1), c(32 * 32);
  a[5 * 32 + 9] = NAN;
  a[7 * 32 + 1] = INFINITY;
  const Floats ones(32 * 32, 1);
  kernel::matmul(rounds, kernel::Tensor(a.data(), 32, 32), kernel::Tensor(ones.data(), 32, 32),
                 kernel::Tensor(c.data(), 32, 32));
  CHECK(std::isnan(c[5 * 32 + 31]));
  CHECK(c[7 * 32 + 31] == INFINITY);
  CHECK(c[6 * 32] == 32);
}

TEST_CASE("the measured rates are of this world") {
  kernel::Stream stream(2), rounds(stream, MatmulInputs::rounded);
  for (double rate :
       {kernel::measured_matmul_rate(stream, .02), kernel::measured_matmul_rate(rounds, .02),
        kernel::measured_matmul_rate<double>(stream, .02),
        kernel::measured_matmul_rate<BFloat16>(stream, .02),
        kernel::measured_matmul_rate<sinter::Float16>(stream, .02)}) {
    CHECK(rate > 1e7);
    CHECK(rate < 1e15);
  }
}

}  // namespace
