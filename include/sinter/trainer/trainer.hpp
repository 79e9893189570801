// SPDX-License-Identifier: Apache-2.0
// The trainer of a recipe, for your own program.
#pragma once
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/view_of.hpp"

namespace sinter {

/// Trains the recipe R, with the functions of TrainerCore:
///   Trainer<mine> trainer;
///   while (…) Outcome outcome = trainer.step(batch);
template <class R>
class Trainer : public TrainerCore {
  static std::shared_ptr<detail::RecipeView> checked_view() {
    if constexpr (ready<R>()) return detail::view_of<R>();
    return {};
  }

 public:
  /// Trains with the options of the type. Throws as TrainerCore::TrainerCore() does.
  explicit Trainer(TrainerSettings settings = {}) : TrainerCore(checked_view(), settings) {}
  /// Trains with options that were changed in a view.
  /// requires  options() has returned the view
  Trainer(std::shared_ptr<detail::RecipeView> view, TrainerSettings settings)
      : TrainerCore(std::move(view), settings) {}

  /// Returns a view of R, whose adjustable options may be changed before a trainer is made of it.
  static std::shared_ptr<detail::RecipeView> options() { return checked_view(); }
};

}  // namespace sinter
