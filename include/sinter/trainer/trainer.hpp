// The trainer of a recipe, for your own program.
#pragma once
#include "sinter/trainer/core.hpp"

namespace sinter {

/// Trains the recipe R:
///   Trainer<mine> trainer;
///   while (…) trainer.step(batch);
/// All that it can do is in TrainerCore. options() changes plain numbers before it is made.
template <class R>
class Trainer : public TrainerCore {
  static RecipeView checked_view() {
    if constexpr (ready<R>()) return view_of<R>();
    return {};
  }

 public:
  explicit Trainer(TrainerSettings settings = {}) : TrainerCore(checked_view(), settings) {}
  /// A view whose options have been changed.
  Trainer(RecipeView view, TrainerSettings settings) : TrainerCore(std::move(view), settings) {}

  static RecipeView options() { return checked_view(); }
};

}  // namespace sinter
