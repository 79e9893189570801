// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

#include "sinter/policy/concepts.hpp"
#include "sinter/program/cross_entropy.hpp"

namespace sinter {

namespace slot {
/// The slot of ClassWeights.
struct class_weights {
  static constexpr std::string_view name = "class_weights";
  static constexpr bool decisive = false;
};
}  // namespace slot

namespace detail {
/// True if numbers can be weights: finite, at least 0, and one above.
template <auto... Weights>
constexpr bool are_weights() {
  if constexpr ((std::is_arithmetic_v<decltype(Weights)> && ...)) {
    return ((double(Weights) >= 0 && double(Weights) <= std::numeric_limits<double>::max()) &&
            ...) &&
           ((double(Weights) > 0) || ...);
  } else {
    return false;
  }
}

template <auto... Weights>
SINTER_RULE(ClassWeightsAreWeights, (are_weights<Weights...>()),
            "ClassWeights: a weight is negative, not finite or no number, or none is above 0. Why: "
            "the loss of a row is multiplied by the weight of its class, and the sum divided by "
            "the weights. Fix: a number of at least 0 for each class, such as "
            "ClassWeights<1, 4.5>.");
template <int Count>
SINTER_MODEL_RULE(
    EachClassHasAWeight,
    losses_of(model).is_one_cross_entropy() && losses_of(model).classes == Count,
    "ClassWeights: there is not one weight for each class. Why: the weights are those of the "
    "classes or tokens of the model's only loss, a cross-entropy of ids, in their order. Fix: as "
    "many weights as the model has classes, such as ClassWeights<1, 4.5> for Bert<{.labels = 2}>; "
    "for a model without classes, leave it out.");
}  // namespace detail

/// A weight for each class, in the order of their ids: ClassWeights<1, 4.5> for two classes, as
/// `weight` of PyTorch's cross_entropy. The loss of a training step is a weighted mean: the sum of
/// weight × loss over the global batch, divided by the sum of the weights of its targets.
/// Evaluations report the plain cross-entropy. A batch whose classes all have the weight 0 is
/// refused, as one without targets is.
template <auto... Weights>
struct ClassWeights {
  using slot = slot::class_weights;
  using rules = RuleList<detail::ClassWeightsAreWeights<Weights...>>;
  using model_rules = RuleList<detail::EachClassHasAWeight<int(sizeof...(Weights))>>;
  static constexpr std::array<double, sizeof...(Weights)> class_weights = [] {
    std::array<double, sizeof...(Weights)> list{};
    if constexpr (detail::are_weights<Weights...>()) list = {double(Weights)...};
    return list;
  }();

  /// The weights as printed plans name them.
  static std::string text() {
    std::string list;
    for (const double weight : class_weights) {
      char number[32];
      std::snprintf(number, sizeof number, "%s%g", list.empty() ? "" : ", ", weight);
      list += number;
    }
    return list;
  }
};

}  // namespace sinter
