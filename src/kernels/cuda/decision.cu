// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/decision.hpp"

#include "kernels/cuda/each_element.hpp"

namespace sinter::kernel {
namespace {

__device__ bool is_finite(double x) { return x - x == 0; }

__global__ void decide_step(Argument<ClippingRule> rule, Argument<double> loss_scale,
                            Decision* decision) {
  Decision& d = *decision;
  d.norm = sqrt(d.squares.value()) / *loss_scale;
  d.applied = is_finite(d.norm) && is_finite(d.loss);
  d.scale = 1;
  d.limit = rule->limit;
  if (!d.applied) return;
  const double factor = rule->bound / (d.norm + 1e-6);
  d.scale = (factor < 1 ? factor : 1) / *loss_scale;
}

__global__ void refuse_step(Argument<StepBounds> bounds, Argument<double> loss_weight,
                            Decision* decision) {
  if (*loss_weight * decision->loss > bounds->loss || decision->norm > bounds->norm)
    decision->applied = 0;
}

__global__ void scale_by_decision(const float* gradient, Argument<double> factor,
                                  const Decision* decision, float* y, std::int64_t n) {
  const float scale = float(*factor * decision->scale);
  for_each_element(n, [=](std::int64_t i) { y[i] = scale * gradient[i]; });
}

}  // namespace

void decide(Stream& stream, const ClippingRule& rule, double loss_scale, Decision* decision) {
  auto& device = stream.device();
  launch(stream, {1, 1}, decide_step, device.argument(rule), device.argument(loss_scale), decision);
}

void refuse_above(Stream& stream, const StepBounds& bounds, double loss_weight,
                  Decision* decision) {
  auto& device = stream.device();
  launch(stream, {1, 1}, refuse_step, device.argument(bounds), device.argument(loss_weight),
         decision);
}

void scale_gradient(Stream& stream, const float* gradient, double factor, const Decision* decision,
                    float* y, std::int64_t n) {
  launch(stream, grid_of_elements(n), scale_by_decision, gradient, stream.device().argument(factor),
         decision, y, n);
}

}  // namespace sinter::kernel
