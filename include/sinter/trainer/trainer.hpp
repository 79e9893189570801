// SPDX-License-Identifier: Apache-2.0
// The trainer of a recipe, for your own program.
#pragma once
#include "sinter/trainer/core.hpp"

namespace sinter {

/// Trains the recipe R:
///   Trainer<mine> trainer;
///   while (…) trainer.step(batch);
/// All that it can do is in TrainerCore.
template <class R>
class Trainer : public TrainerCore {
  static RecipeView checked_view() {
    if constexpr (ready<R>()) return view_of<R>();
    return {};
  }

 public:
  /// Trains with the options of the type. What it throws is that of TrainerCore::TrainerCore.
  explicit Trainer(TrainerSettings settings = {}) : TrainerCore(checked_view(), settings) {}
  /// Trains with options that have been changed in a view.
  /// requires  the view is one that options() has given
  Trainer(RecipeView view, TrainerSettings settings) : TrainerCore(std::move(view), settings) {}

  /// A view of R, in which adjustable options may be changed before a trainer is made of it.
  static RecipeView options() { return checked_view(); }
};

}  // namespace sinter
