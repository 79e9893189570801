// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

namespace sinter {

/// What a step measures before its update. All ranks have the same.
struct StepFigures {
  double loss;           ///< mean over the predictions of the global batch
  double gradient_norm;  ///< before clipping, without the loss scale
  bool applied;          ///< false if it changes nothing: it is not finite, or a guard refuses it

  /// Whether both figures are.
  bool finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }
};

}  // namespace sinter
