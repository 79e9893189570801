// SPDX-License-Identifier: Apache-2.0
// What the choice of a token asks of its logits, beside plain loops.
#include "kernels/logits.hpp"

#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> logits_of(std::int64_t n, float spread = 10) {
  std::mt19937 random(unsigned(n + 1));
  std::normal_distribution<float> normal(-3, spread);
  std::vector<float> logits(static_cast<std::size_t>(n));
  for (float& logit : logits) logit = normal(random);
  return logits;
}

double log_sum_exp(const std::vector<float>& logits) {
  return kernel::log_sum_exp(logits.data(), std::ssize(logits));
}

double expected(const std::vector<float>& logits) {
  long double sum = 0, top = *std::ranges::max_element(logits);
  for (const float logit : logits) sum += std::exp((long double)(logit)-top);
  return double(top + std::log(sum));
}

}  // namespace

TEST_CASE("the logarithm of the sum of exponentials is that of a sum in long double") {
  for (const std::int64_t n : {1, 2, 7, 15, 16, 17, 31, 33, 100, 4096, 50257})
    for (const float spread : {0.01f, 10.f, 300.f}) {
      CAPTURE(n);
      CAPTURE(spread);
      std::vector<float> logits = logits_of(n, spread);
      const double want = expected(logits);
      const double epsilon = std::numeric_limits<double>::epsilon();
      CHECK(std::abs(log_sum_exp(logits) - want) <=
            (8 + double(n) / 16 + std::abs(want)) * epsilon);
    }
}

TEST_CASE("forbidden tokens add nothing") {
  std::vector<float> logits = logits_of(100);
  const double want = log_sum_exp(logits);
  logits.insert(logits.end(), 40, -infinity);
  CHECK(log_sum_exp(logits) == want);
  CHECK(log_sum_exp(std::vector<float>(30, -infinity)) == -infinity);
}

TEST_CASE("the bits of a sum do not depend on the instruction set") {
  const std::vector<float> logits = logits_of(1003);
  const double want = log_sum_exp(logits);
  on_every_instruction_set([&] {
    // Sanitized kernels are not compiled for AVX2, and the baseline rounds products.
    const std::int64_t fusing = HWY_AVX3 | HWY_NEON | (is_sanitized ? 0 : HWY_AVX2);
    const bool is_fused = (hwy::SupportedTargets() & fusing) != 0;
    if (is_fused) CHECK(log_sum_exp(logits) == want);
    CHECK(log_sum_exp(logits) == doctest::Approx(want).epsilon(1e-15));
  });
}

TEST_CASE("the largest logit is found, and so are those that are none") {
  for (const std::int64_t n : {1, 5, 16, 31, 100}) {
    const std::vector<float> logits = logits_of(n);
    const kernel::LogitRange range = kernel::logit_range(logits.data(), n);
    CHECK(range.largest == *std::ranges::max_element(logits));
    CHECK(range.is_fine);
    for (std::int64_t at = 0; at < n; ++at)
      for (const float bad : {infinity, -infinity, std::nanf("")}) {
        std::vector<float> others = logits;
        others[std::size_t(at)] = bad;
        CHECK(kernel::logit_range(others.data(), n).is_fine == (bad == -infinity));
      }
  }
  CHECK(kernel::logit_range(nullptr, 0).largest == -infinity);
}

TEST_CASE("numbers of at least a bound are found in order") {
  for (const std::int64_t n : {1, 16, 37, 200}) {
    const std::vector<float> some = logits_of(n);
    for (const float bound : {-infinity, -3.f, 10.f, some[0], infinity}) {
      std::vector<std::int64_t> want, found;
      for (std::int64_t k = 0; k < n; ++k)
        if (some[std::size_t(k)] >= bound) want.push_back(k);
      const auto next = [&](std::int64_t from) {
        return kernel::find_at_least(some.data(), from, n, bound);
      };
      for (std::int64_t k = next(0); k < n; k = next(k + 1)) found.push_back(k);
      CHECK(found == want);
    }
  }
  const std::vector<float> equal(40, 2);
  CHECK(kernel::find_at_least(equal.data(), 0, 40, 2) == 0);
  CHECK(kernel::find_at_least(equal.data(), 17, 40, 2) == 17);
  CHECK(kernel::find_at_least(equal.data(), 0, 40, 2.5f) == 40);
}
