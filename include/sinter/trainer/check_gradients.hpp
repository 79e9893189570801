// SPDX-License-Identifier: Apache-2.0
// Checks the gradients of layers and models of one's own.
#pragma once
#include <string>
#include <vector>

#include "sinter/trainer/trainer.hpp"

namespace sinter {

/// How one parameter's gradient compares with finite differences.
struct GradientCheck {
  std::string parameter;
  std::int64_t element = 0;  ///< where the two differ most, row-major
  double slope = 0;          ///< of the loss there, by finite differences
  double gradient = 0;       ///< there, as backward has it
  /// By how many times the error that finite differences allow the two differ there; infinite if
  /// one of them is not finite.
  double excess = 0;
  double largest = 0;  ///< magnitude of a slope of this parameter
  double allowed = 0;  ///< error by rounding alone

  /// Whether the gradient is right at every element.
  bool right() const { return excess < 1; }
  /// Whether a slope stands out from rounding. Where none does, nothing was checked: the layer may
  /// pass nothing on, or the batch be too small.
  bool checked() const { return largest > 1000 * allowed; }
};

/// The checks of all trained parameters.
struct GradientReport {
  std::vector<GradientCheck> parameters;  ///< in the order of the model

  /// Whether all gradients are right, and were checked.
  bool passed() const;
  /// A line for each parameter: its name, and what is wrong, if anything is.
  std::string text() const;
};

/// How gradients are checked.
struct GradientCheckSettings {
  double h = 1e-4;         ///< parameters are moved by this and by its double
  std::uint64_t seed = 5;  ///< of the parameters' values and of dropout
};

/// Compares the gradient of a step's loss with central finite differences, at every number of every
/// trained parameter. The parameters are random (normal, deviation 0.5), not the initial ones, and
/// memory that a step must write before it reads it holds NaN. Each loss comes
/// from a step of a fresh trainer, so that dropout repeats: that is two steps a number and more, so
/// let the model and the batch be small. What goes wrong beside a gradient, such as a layer that
/// forgets to put one, shows as a gradient that is not the slope.
///
/// With D(h) = (f(h) - f(-h)) / 2h = f' + h² f‴/6 + O(h⁴), the slope is (4 D(h) - D(2h)) / 3. Its
/// error is a small part of the h² term by which the two differ, and rounding: f is right to about
/// 50 roundings, and so each D to 50 ε |f| / h.
/// requires  the recipe computes in double precision (Fp64), and no kink, as a ReLU's, is within 2h
/// throws    ArgumentError if it does not, or if the batch does not fit the recipe; Error if the
///           loss is not finite
GradientReport check_gradients(const RecipeView& recipe, const HostBatch& batch,
                               const GradientCheckSettings& settings = {});

/// Does so for the recipe R.
template <class R>
GradientReport check_gradients(const HostBatch& batch, const GradientCheckSettings& settings = {}) {
  static_assert(std::is_same_v<typename R::precision::compute, double>,
                "Sinter: gradients are checked in double precision alone. Why: finite differences "
                "of narrower numbers are mostly rounding. Fix: add Fp64 to the recipe; the code of "
                "the layers is the same.");
  return check_gradients(Trainer<R>::options(), batch, settings);
}

}  // namespace sinter
