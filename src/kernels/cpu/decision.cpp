// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/decision.hpp"

#include <cmath>

#include "sinter/kernels/elementwise.hpp"

namespace sinter::kernel {

void decide(Stream&, const ClippingRule& rule, double loss_scale, Decision* decision) {
  Decision& v = *decision;
  v.norm = std::sqrt(v.squares.value()) / loss_scale;
  v.applied = std::isfinite(v.norm) && std::isfinite(v.loss);
  v.scale = 1;
  v.limit = rule.limit;
  if (!v.applied) return;
  const double factor = rule.bound / (v.norm + 1e-6);
  v.scale = (factor < 1 ? factor : 1) / loss_scale;
}

void refuse_above(Stream&, const StepBounds& bounds, double loss_weight, Decision* decision) {
  if (loss_weight * decision->loss > bounds.loss || decision->norm > bounds.norm)
    decision->applied = 0;
}

void scale_gradient(Stream& stream, const float* gradient, double factor, const Decision* decision,
                    float* y, std::int64_t n) {
  scale(stream, gradient, float(factor * decision->scale), y, n);
}

}  // namespace sinter::kernel
