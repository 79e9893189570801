#pragma once
#include "sinter/kernels/optimizer.hpp"
#include "sinter/recipe/concepts.hpp"

namespace sinter {

struct LionOptions {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};

/// Lion (Chen et al. 2023): every parameter moves by the learning rate, in the direction of the
/// sign of an average of gradients; decay is decoupled. No decay on biases and norms. State: one
/// number for each parameter.
template <LionOptions O = {}>
struct Lion {
  using slot = slot::optimizer;
  using Options = LionOptions;
  static constexpr Options options = O;
  static constexpr Offer offered{"Lion<>"};
  static constexpr std::array ranges{Range("lr").at_least(0), Range("beta1").at_least(0).below(1),
                                     Range("beta2").at_least(0).below(1),
                                     Range("weight_decay").at_least(0)};
  static constexpr std::array<std::string_view, 4> adjustable{"lr", "beta1", "beta2",
                                                              "weight_decay"};
  static constexpr std::array regions{Region{"exp_avg"}};
  static constexpr bool casts = true;

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    kernel::LionStep step;
    step.lr = s.learning_rate;
    step.beta1 = o.beta1;
    step.beta2 = o.beta2;
    step.weight_decay = s.decayed ? o.weight_decay : 0;
    step.gradient_scale = s.gradient_scale;
    step.gradient_limit = s.gradient_limit;
    kernel::lion(s.stream, s.master, s.gradient, s.state[0], s.copy, s.size, step);
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::LionOptions, lr, beta1, beta2, weight_decay);
