// SPDX-License-Identifier: Apache-2.0
// What kernels of optimizers are given on every device.
#pragma once
#include <cmath>
#include <type_traits>

#include "sinter/kernels/adafactor.hpp"
#include "sinter/kernels/adamw.hpp"
#include "sinter/kernels/optimizer.hpp"

/// X(suffix, M, G, S, C, …) for each combination of types of an elementwise optimizer.
#define SINTER_EACH_OPTIMIZER(X, ...)                           \
  X(f32, float, float, float, float, __VA_ARGS__)               \
  X(f64, double, double, double, double, __VA_ARGS__)           \
  X(bf16, float, float, float, BFloat16, __VA_ARGS__)           \
  X(f16, float, float, float, Float16, __VA_ARGS__)             \
  X(f16_gradients, float, Float16, float, Float16, __VA_ARGS__) \
  X(all_f16, Float16, Float16, float, Float16, __VA_ARGS__)

/// Instantiates the kernel name(options, span), for SINTER_EACH_OPTIMIZER.
#define SINTER_OPTIMIZER_INSTANCE(suffix, M, G, S, C, name, Options) \
  template void name(const Options&, const ParameterSpan<M, G, S, C>&);

namespace sinter::kernel {

/// An optimizer's options, with what one step of a span adds to them.
template <class Options>
struct OptimizerStep {
  Options options;
  double lr, weight_decay;   // of this step and span
  std::int64_t number;       // of the step, from 1
  const Decision* decision;  // in the device's memory; null if gradients are used unchanged

  template <class M, class G, class S, class C>
  OptimizerStep(const Options& of, const ParameterSpan<M, G, S, C>& span)
      : options(of),
        lr(span.learning_rate),
        weight_decay(span.decayed ? of.weight_decay : 0),
        number(span.step),
        decision(span.decision) {}
};

/// A step of an optimizer with Adam's moments, with the constants that its kernels round.
template <class Options>
struct AdamStep : OptimizerStep<Options> {
  using OptimizerStep<Options>::OptimizerStep;
  /// True if decay is part of the gradient (L2), not of the update.
  static constexpr bool coupled = std::is_same_v<Options, AdamOptions>;

  double correction1 = 1 - std::pow(this->options.beta1, double(this->number));
  double correction2 = 1 - std::pow(this->options.beta2, double(this->number));
  double rest1 = 1 - this->options.beta1, rest2 = 1 - this->options.beta2;
  double deviation = std::sqrt(correction2);  // by which the root of the second moment is divided
  double decay = coupled ? 1 : 1 - this->lr * this->weight_decay;
};

/// A step of Adafactor.
struct AdafactorStep : OptimizerStep<AdafactorOptions> {
  using OptimizerStep::OptimizerStep;
  double beta2 = adafactor_beta2(number, options.decay);
};

/// The arrays of a span, from an element on.
template <class M, class G, class S, class C>
struct OptimizerArrays {
  M* master;
  const G* gradient;
  S* state[detail::max_regions];
  C* copy;
  std::int64_t size;

  explicit OptimizerArrays(const ParameterSpan<M, G, S, C>& span)
      : OptimizerArrays(span, 0, span.size) {}
  OptimizerArrays(const ParameterSpan<M, G, S, C>& span, std::int64_t begin, std::int64_t end)
      : master(span.master + begin),
        gradient(span.gradient + begin),
        copy(span.copy ? span.copy + begin : nullptr),
        size(end - begin) {
    for (int r = 0; r < detail::max_regions; ++r)
      state[r] =
          span.state[std::size_t(r)].data ? span.state[std::size_t(r)].data + begin : nullptr;
  }
};

}  // namespace sinter::kernel
