// SPDX-License-Identifier: Apache-2.0
// Views of a recipe: for a trainer, and for what continues texts with its weights.
#pragma once
#include <memory>
#include <string>

#include "sinter/recipe/generation_plan.hpp"
#include "sinter/trainer/recipe_of.hpp"

namespace sinter::detail {

/// The view of the recipe R with the plan of what is not trained, which runs on one rank.
template <class R>
class WithoutTraining : public RecipeOf<R> {
 public:
  explicit WithoutTraining(const PlanView& of_weights) {
    this->plan = &of_weights;
    this->joins_worlds = false;
  }
  int ranks() const override { return 1; }
  std::vector<Alternative> alternatives() const override { return {}; }
};

/// Returns the view of the recipe R for a generator, quantized if the recipe says so and IsQuantized.
/// requires  continues_texts<R>()
template <class R, int Texts = generated_rows<R>, bool IsQuantized = true,
          int Context = generated_context<R>>
std::shared_ptr<RecipeView> generation_view_of() {
  return std::make_shared<WithoutTraining<R>>(GenerationPlan<R, Texts, IsQuantized, Context>::view);
}
/// True if the recipe R has a policy in the slot `quantization`.
template <class R>
inline constexpr bool is_quantized =
    !std::is_void_v<typename R::template Pick<slot::quantization, void>>;

/// How many texts evaluations of the recipe R write at once.
template <class R>
constexpr int rows_of_replies() {
  int rows = 0;
  for_each_policy(typename R::all{}, [&]<class P>(P*) { rows += hook::reply_rows<P>; });
  return rows > 0 ? rows : generated_rows<R>;
}

/// Why the model of the recipe R does not continue texts, in words; empty if it does.
template <class R>
std::string not_continued_by() {
  constexpr ContinuationFault fault = continuation_fault_of<R>;
  return fault.what ? fault_text(fault.what, fault.unit, fault.node) : "";
}

/// Gives a view of the recipe R that for a generator, if evaluations need it.
template <class R, bool IsQuantized>
void add_reply_generation(RecipeView& view) {
  if constexpr (writes_replies<R>()) {
    view.not_continued = not_continued_by<R>();
    if constexpr (!continuation_fault_of<R>.what)
      view.reply_generation =
          generation_view_of<R, rows_of_replies<R>(), IsQuantized, R::data::context>;
  }
}

/// Returns the recipe R without its type, with the options of its type, and with the view for a
/// generator if evaluations need that.
/// requires  R is ready()
template <class R>
std::shared_ptr<RecipeView> view_of() {
  std::shared_ptr<RecipeView> view = std::make_shared<RecipeOf<R>>();
  add_reply_generation<R, false>(*view);
  return view;
}
/// Returns the view of the recipe R for predictions and evaluations, with weights alone in memory, as
/// the recipe's Quantize stores them if it has that policy.
template <class R>
std::shared_ptr<RecipeView> predictor_view_of() {
  std::shared_ptr<RecipeView> view = std::make_shared<WithoutTraining<R>>(PredictorPlan<R>::view);
  add_reply_generation<R, true>(*view);
  return view;
}

}  // namespace sinter::detail
