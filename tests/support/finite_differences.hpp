// SPDX-License-Identifier: Apache-2.0
// Checks gradients against central finite differences, as users do, and says which are wrong.
#pragma once
#include "sinter/trainer/check_gradients.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

/// Checks the gradients of a recipe that computes in double precision.
inline void expect_right_gradients(const std::shared_ptr<RecipeView>& recipe,
                                   const HostBatch& batch, double h = 1e-4) {
  for (const GradientCheck& p : sinter::check_gradients(recipe, batch, {.h = h}).parameters) {
    CAPTURE(p.parameter);
    CAPTURE(p.slope);
    CAPTURE(p.gradient);
    CHECK(p.right());
    CHECK(p.checked());  // else nothing was checked
  }
}

template <class R>
void expect_right_gradients(const HostBatch& batch) {
  expect_right_gradients(Trainer<R>::options(), batch);
}

}  // namespace sinter::detail::testing
