// SPDX-License-Identifier: Apache-2.0
// Views of a recipe: for a trainer, and for what continues texts with its weights.
#pragma once
#include <memory>
#include <string>

#include "sinter/recipe/generation_plan.hpp"
#include "sinter/trainer/recipe_of.hpp"

namespace sinter::detail {

/// The view of the recipe R for a generator of up to Texts texts at once: its plan is that of
/// generation, on one rank.
template <class R, int Texts, bool IsQuantized>
class GenerationOf : public RecipeOf<R> {
 public:
  GenerationOf() {
    this->plan = &GenerationPlan<R, Texts, IsQuantized>::view;
    this->joins_worlds = false;
  }
  int ranks() const override { return 1; }
  std::vector<Alternative> alternatives() const override { return {}; }
};

/// Returns the view of the recipe R for a generator, quantized if the recipe says so and IsQuantized.
/// requires  continues_texts<R>()
template <class R, int Texts = generated_rows<R>, bool IsQuantized = true>
std::shared_ptr<RecipeView> generation_view_of() {
  return std::make_shared<GenerationOf<R, Texts, IsQuantized>>();
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

/// Returns the recipe R without its type, with the options of its type, and with the view for a
/// generator if evaluations need that.
/// requires  R is ready()
template <class R>
std::shared_ptr<RecipeView> view_of() {
  std::shared_ptr<RecipeView> view = std::make_shared<RecipeOf<R>>();
  if constexpr (writes_replies<R>()) {
    view->not_continued = not_continued_by<R>();
    if constexpr (!continuation_fault_of<R>.what)
      view->reply_generation = generation_view_of<R, rows_of_replies<R>(), false>;
  }
  return view;
}

}  // namespace sinter::detail
