// Compares gradients with central finite differences.
#pragma once
#include <limits>

#include "support/trainers.hpp"

namespace sinter::testing {

/// Checks the gradient of a step's loss at every number of every parameter. The parameters are
/// random, not the initial ones. Each loss comes from a step of a fresh trainer, so that dropout
/// repeats.
///
/// With D(h) = (f(h) - f(-h)) / 2h = f' + h² f‴/6 + O(h⁴), the slope is (4 D(h) - D(2h)) / 3. Its
/// error is a small part of the h² term by which the two differ, and rounding: f is right to about
/// 50 roundings, and so each D to 50 ε |f| / h.
/// requires  the recipe computes in double precision, and no ReLU's operand is within 2h of 0
inline void check_gradients(const RecipeView& recipe, const HostBatch& batch, double h = 1e-4) {
  const TrainerSettings settings{.seed = 5, .threads = 1};
  TrainerCore trainer(recipe, settings);
  randomise(trainer, 7);
  const NamedNumbers start = parameters_of(trainer);
  const double loss = applied(trainer, batch).loss.mean();
  REQUIRE(std::isfinite(loss));
  const double rounding = 50 * std::numeric_limits<double>::epsilon() * std::abs(loss) / h;

  for (const Parameter& p : trainer.parameters()) {
    const Numbers gradient = trainer.gradient(p.name);
    auto loss_at = [&](std::size_t k, double change) {
      TrainerCore moved(recipe, settings);
      set_parameters(moved, start);
      Numbers values = start.at(p.name);
      values[k] += change;
      moved.set_parameter(p.name, values);
      return applied(moved, batch).loss.mean();
    };
    double worst = 0, slope_there = 0, gradient_there = 0, largest = 0;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      double near = (loss_at(k, h) - loss_at(k, -h)) / (2 * h);
      double far = (loss_at(k, 2 * h) - loss_at(k, -2 * h)) / (4 * h);
      double slope = near + (near - far) / 3;
      double error = std::abs(slope - gradient[k]) / (rounding + .01 * std::abs(near - far));
      largest = std::max(largest, std::abs(slope));
      if (error <= worst) continue;
      worst = std::isfinite(error) ? error : INFINITY;
      slope_there = slope;
      gradient_there = gradient[k];
    }
    CAPTURE(p.name);
    CAPTURE(slope_there);
    CAPTURE(gradient_there);
    CHECK(worst < 1);
    CHECK(largest > 1000 * rounding);  // else nothing was checked
  }
}

template <class R>
void check_gradients(const HostBatch& batch) {
  check_gradients(Trainer<R>::options(), batch);
}

}  // namespace sinter::testing
