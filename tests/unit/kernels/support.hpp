// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share.
#pragma once
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::detail::testing {

using kernel::Stream;

/// What a product is added to in a test.
enum class AddTo { nothing, itself, row };

template <class C>
kernel::Addend<C> addend_of(AddTo add, const C* c, std::int64_t stride, const C* row) {
  if (add == AddTo::nothing) return {};
  return add == AddTo::itself ? kernel::Addend<C>{c, stride} : kernel::Addend<C>{row};
}

/// Sequences that start there, the last entry past the end.
inline kernel::Sequences sequences_of(const std::vector<std::int32_t>& starts) {
  return {starts.data(), int(starts.size()) - 1, starts.back()};
}

/// What the kernels of norm.hpp leave in their place.
template <class T>
double sum(Stream& stream, const std::vector<T>& x) {
  double result;
  kernel::sum(stream, x.data(), std::int64_t(x.size()), &result);
  return result;
}
template <class T>
double sum_of_squares(Stream& stream, const std::vector<T>& x) {
  double result;
  kernel::sum_of_squares(stream, x.data(), std::int64_t(x.size()), &result);
  return result;
}

/// A std::vector as a tensor.
template <class Values>
auto tensor(Values&& values, int rows, int columns, bool add = false) {
  return kernel::Tensor(values.data(), rows, columns, add);
}

template <class T>
std::vector<T> normal_values(std::int64_t n, std::uint64_t seed, double deviation = 1) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<T> values(n);
  for (T& v : values) v = T(normal(engine));
  return values;
}

template <class T>
double epsilon() {
  return std::numeric_limits<T>::epsilon();
}

/// The largest |got - want| / max(|want|, scale), in units of T's epsilon; infinite where one of
/// them is not finite.
template <class T>
double error_of(const std::vector<T>& got, const std::vector<double>& want, double scale = 1) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double error = std::abs(double(got[i]) - want[i]) / std::max(std::abs(want[i]), scale);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst / epsilon<T>();
}

/// The type in which references for T are computed.
template <class T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Terms that a kernel adds to its result, if any; each sum is rounded.
template <class T>
using Added = std::vector<const std::vector<T>*>;

/// The largest |got - want| as a share of a header's bound, ε · factor · scale. It is at most 1
/// where the bound holds, and infinite where one of them is not finite. What was added to the
/// result is added to `want`, and each such sum allows an error of ε of itself more.
template <class T>
double share_of_bound(const std::vector<T>& got, const std::vector<Wider<T>>& want,
                      const std::vector<Wider<T>>& scale, double factor,
                      const Added<T>& added = {}) {
  REQUIRE(got.size() == want.size());
  REQUIRE(got.size() == scale.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    Wider<T> sum = want[i], bound = factor * std::abs(scale[i]);
    for (const auto* terms : added) sum += (*terms)[i], bound += std::abs(sum);
    const Wider<T> error = std::abs(got[i] - sum);
    const double share = error == 0 ? 0 : double(error / (epsilon<T>() * bound));
    worst = std::isfinite(share) ? std::max(worst, share) : INFINITY;
  }
  return worst;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Calls compute(stream), which returns a std::vector, on streams of 1, 2 and 3 threads, checks
/// that all give the same bits, and returns them.
template <class F>
auto same_on_all_threads(const F& compute) {
  Stream one(1), two(2), three(3);
  auto result = compute(one);
  CHECK(same_bits(result, compute(two)));
  CHECK(same_bits(result, compute(three)));
  return result;
}

/// Calls body() once for each instruction set that the machine has and kernels are compiled for.
template <class F>
void on_every_instruction_set(const F& body) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t target :
       {std::int64_t(HWY_SCALAR), std::int64_t(HWY_SSE4), std::int64_t(HWY_AVX2),
        std::int64_t(HWY_AVX3), std::int64_t(HWY_NEON)}) {
    if (target != HWY_SCALAR && !(supported & target)) continue;
    const std::string instruction_set = hwy::TargetName(target);
    CAPTURE(instruction_set);
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
    hwy::SetSupportedTargetsForTest(supported);
    hwy::GetChosenTarget().DeInit();
  }
}

}  // namespace sinter::detail::testing
