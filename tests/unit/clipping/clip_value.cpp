// SPDX-License-Identifier: Apache-2.0
#include "sinter/clipping/clip_value.hpp"

#include <doctest/doctest.h>

#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/precision/fp16.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

template <class... Policies>
using Net =
    Made<Mlp<{.in = 3, .hidden = 24, .out = 2}>, Batch<{.global = 8, .micro = 4}>, Policies...>;

TEST_CASE("clipping by value clamps each gradient") {
  constexpr double limit = 1e-3;
  auto check = [&]<class R>(R) {
    static_assert(ready<R>());
    Trainer<R> trainer({.seed = 1, .threads = 1});
    NamedNumbers before = parameters_of(trainer);
    applied(trainer, regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, 1));
    int clamped = 0;
    for (const auto& [name, gradient] : gradients_of(trainer)) {
      Numbers now = trainer.parameter(name), was = before[name];
      for (std::size_t k = 0; k < now.size(); ++k) {
        const double step = std::clamp(gradient[k], -limit, limit);
        clamped += step != gradient[k];
        CHECK(was[k] - now[k] == doctest::Approx(step).epsilon(1e-3));
      }
    }
    CHECK(clamped > 3);
  };
  check(Net<ClipValue<{.limit = limit}>, Sgd<{.lr = 1}>>{});
  check(Net<ClipValue<{.limit = limit}>, Sgd<{.lr = 1}>, Fp16<{.initial_scale = 256}>>{});
}

}  // namespace
}  // namespace sinter::detail::testing
