// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

namespace sinter {

/// Measurements of a step before its update, equal on all ranks.
struct StepFigures {
  double loss;           ///< mean over the predictions of the global batch
  double gradient_norm;  ///< before clipping, without the loss scale
  bool applied;  ///< false if the step changes nothing: it is not finite, or a guard refuses it

  /// True if both figures are finite.
  bool finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }
};

}  // namespace sinter
