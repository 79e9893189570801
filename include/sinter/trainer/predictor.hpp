// SPDX-License-Identifier: Apache-2.0
// Predictions and evaluations without what training needs, for your own program.
#pragma once
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/view_of.hpp"

namespace sinter {

/// Predicts and evaluates with the model of the recipe R, with the functions of TrainerCore except
/// step():
///   Predictor<mine> predictor;
///   predictor.load_weights("run");
///   const Prediction prediction = predictor.predict(batch);
/// It has no gradients and no state of an optimizer, and weights only in the type that layers read, or
/// as the recipe's Quantize stores them. They have no values before they are loaded.
template <class R>
class Predictor : public TrainerCore {
  static std::shared_ptr<detail::RecipeView> checked_view() {
    if constexpr (ready<R>()) return detail::predictor_view_of<R>();
    return {};
  }

 public:
  /// Plans memory for the recipe's micro-batch. Throws as TrainerCore::TrainerCore() does.
  explicit Predictor(TrainerSettings settings = {}) : TrainerCore(checked_view(), settings) {}
};

}  // namespace sinter
