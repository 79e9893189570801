// SPDX-License-Identifier: Apache-2.0
// Checks the gradients of your own layers and models.
#pragma once
#include <string>
#include <vector>

#include "sinter/trainer/trainer.hpp"

namespace sinter {

/// Comparison of one parameter's gradient with finite differences.
struct GradientCheck {
  std::string parameter;     ///< the parameter's name
  std::int64_t element = 0;  ///< where slope and gradient differ most, row-major
  double slope = 0;          ///< derivative of the loss at `element`, by finite differences
  double gradient = 0;       ///< derivative at `element`, from backward
  /// Difference of slope and gradient at `element`, divided by the error that finite differences
  /// allow. Infinite if one of the two is not finite.
  double excess = 0;
  double largest = 0;  ///< largest magnitude of a slope of this parameter
  double allowed = 0;  ///< error allowed for rounding

  /// True if the gradient is right at every element.
  bool right() const { return excess < 1; }
  /// True if a slope stands out from rounding. If none does, nothing was checked: the layer may
  /// pass nothing on, or the batch may be too small.
  bool checked() const { return largest > 1000 * allowed; }
};

/// The checks of all trained parameters.
struct GradientReport {
  std::vector<GradientCheck> parameters;  ///< in model order

  /// True if all gradients are right, and were checked.
  bool passed() const;
  /// Returns a line for each parameter: its name, and what is wrong, if anything is.
  std::string text() const;
};

/// Settings of a gradient check.
struct GradientCheckSettings {
  double h = 1e-4;         ///< parameters are moved by this and by twice this
  std::uint64_t seed = 5;  ///< seed of the parameters' values and of dropout
};

/// Compares the gradient of a step's loss with central finite differences, at every number of every
/// trained parameter. The parameters are random (normal, deviation 0.5), not the initial ones.
/// Memory that a step must write before it reads it holds NaN. Each loss comes from a step of a
/// fresh trainer, so that dropout repeats. Each number takes at least two steps, so the model and
/// the batch should be small. An error beside a gradient, such as a layer that forgets to write
/// one, shows as a gradient that differs from the slope.
///
/// With D(h) = (f(h) - f(-h)) / 2h = f' + h² f‴/6 + O(h⁴), the slope is (4 D(h) - D(2h)) / 3. Its
/// error is rounding and a small part of the h² term by which the two differ. f is right to about
/// 50 roundings, and so each D to 50 ε |f| / h.
/// requires  the recipe computes in double precision (Fp64), and no kink, as a ReLU's, is within 2h
/// throws    ArgumentError if it does not, or if the batch does not fit the recipe; Error if the
///           loss is not finite
GradientReport check_gradients(const std::shared_ptr<detail::RecipeView>& recipe,
                               const HostBatch& batch, const GradientCheckSettings& settings = {});

/// Compares the gradients of the recipe R with finite differences.
template <class R>
GradientReport check_gradients(const HostBatch& batch, const GradientCheckSettings& settings = {}) {
  static_assert(std::is_same_v<typename R::precision::compute, double>,
                "Sinter: gradients are checked in double precision alone. Why: finite differences "
                "of narrower numbers are mostly rounding. Fix: add Fp64 to the recipe; the code of "
                "the layers is the same.");
  return check_gradients(Trainer<R>::options(), batch, settings);
}

}  // namespace sinter
