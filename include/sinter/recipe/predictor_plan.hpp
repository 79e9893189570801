// SPDX-License-Identifier: Apache-2.0
// The plan of predictions and evaluations with weights alone in memory, stored as the recipe's policy
// in the slot `quantization` says.
#pragma once
#include "sinter/parameters/quantize.hpp"
#include "sinter/recipe/plan.hpp"

namespace sinter::detail {

/// The model with its weights alone in memory, and a cache if `caches`: no gradients, no state. Weights
/// have the type that layers read, without masters of another one.
constexpr Model only_weights(Model model, bool caches) {
  model.spaces = space_table({.frozen_apart = model.keeps_frozen_apart()});
  for (const Space space : {Space::gradient, Space::running})
    model.spaces[std::size_t(space)] = {Lies::nowhere};
  if (caches) model.spaces[std::size_t(Space::cache)] = {Lies::arena};
  model.regions = {};
  model.shards = 1;
  model.owned = {};
  model.sizes.bytes[int(Type::master)] = model.sizes.bytes[int(Type::compute)];
  model.sizes.element[int(Type::master)] = model.sizes.element[int(Type::compute)];
  return model;
}

/// The recipe R, with weights stored as the policy Quantizer says.
template <class R, class Quantizer>
struct Quantized : R {
  /// The precision, with the layers that stand for others (StoredLayerFor).
  struct precision : R::precision {
    template <class L>
    using Stored = typename Quantizer::template Stored<L, typename R::precision>;
  };
};

template <class R, Text Mistake, Text Unit>
auto the_weights_cannot_be_stored() {
  static_assert(
      sizeof(R) == 0,
      "Sinter: Quantize cannot store the weights of this recipe's model. What: the Mistake "
      "and the Unit are in this error. Why: tied layers read the same table, so all of them "
      "read int8, or none. Fix: leave Quantize out, or tie layers on which it acts: "
      "Embedding, Unembedding, UnembeddingBias and the cross-entropies over a vocabulary.");
}
template <class R>
auto nothing_is_stored_in_int8() {
  static_assert(sizeof(R) == 0,
                "Sinter: Quantize would store no weight of this recipe's model in int8. Why: it "
                "acts on Linear, "
                "Embedding and heads over a vocabulary whose width is a multiple of group, unless "
                "they have an "
                "adapter, and the model has none. Fix: make the widths multiples of 32, or leave "
                "Quantize out.");
}
/// True if a layer of a model stores a parameter in int8.
constexpr bool has_int8(const Model& model) {
  return std::ranges::any_of(model.nodes, [](const Node& node) {
    return std::ranges::any_of(node.layer->params, [](const Param& p) { return bool(p.int8); });
  });
}
/// True if the model of a quantized recipe can be stored; otherwise also makes one compile error.
template <class R>
constexpr bool is_stored() {
  constexpr Fault fault = Traced<R, TrainingTrace>::count.fault;
  if constexpr (fault.what) {
    constexpr std::string_view what = fault.what, unit = fault.unit;
    (void)&the_weights_cannot_be_stored<R, Text<what.size() + 1>(what),
                                        Text<unit.size() + 1>(unit)>;
    return false;
  } else if constexpr (!has_int8(Traced<R, TrainingTrace>::model)) {
    (void)&nothing_is_stored_in_int8<R>;
    return false;
  } else {
    return true;
  }
}

/// The recipe of the weights of what is not trained: R, or R with the weights as its policy in the slot
/// `quantization` says.
template <class R, bool IsQuantized>
auto recipe_of_weights() {
  using Policy = typename R::template Pick<slot::quantization, void>;
  if constexpr (IsQuantized && !std::is_void_v<Policy>) {
    if constexpr (is_stored<Quantized<R, Policy>>())
      return std::type_identity<Quantized<R, Policy>>{};
    else
      return std::type_identity<R>{};
  } else {
    return std::type_identity<R>{};
  }
}

/// The plan of predictions and evaluations by the recipe R, on one rank. Each policy's rewrite of these
/// programs is about what training leaves elsewhere, and nothing is.
template <class R>
struct PredictorPlan {
  using Planned =
      typename decltype(recipe_of_weights<typename detail::Planned<R>::type, true>())::type;
  using Training = Traced<Planned, TrainingTrace>;
  using Predicting = Traced<Planned, PredictionTrace>;

  /// The model whose weights are loaded, and its losses.
  static constexpr Model stored = only_weights(Training::model, false);
  static constexpr Model predicting = only_weights(Predicting::model, false);
  static constexpr Model predicting_rows = [] {
    if constexpr (PredictsRows<R>) {
      return only_weights(Traced<Planned, RowPredictionTrace>::model, false);
    } else {
      return predicting;
    }
  }();

  static constexpr FrozenProgram<Training::count.units, 8> evaluation{stored,
                                                                      detail::evaluation(stored)};
  static constexpr FrozenProgram<Predicting::count.units, 8> prediction{
      predicting, detail::prediction(predicting)};
  static_assert(
      verify(stored, evaluation.instructions.view(), {false, false}).fine() &&
          verify(predicting, prediction.instructions.view(), {false, false}).fine(),
      "Sinter: a program of predictions breaks a rule of the verifier; please report it.");

  /// The bytes of the arena by purpose.
  static constexpr Memory memory =
      memory_of(stored, evaluation.view(), std::max(evaluation.peak, prediction.peak),
                &tag_of<typename R::optimizer>);

  static constexpr PlanView view_without_training() {
    PlanView made = Plan<R>::view;
    made.model = made.evaluating = stored;
    made.predicting = predicting;
    made.predicting_rows = predicting_rows;
    made.training = made.evaluation = evaluation.view();
    made.training.program = {};
    made.prediction = prediction.view();
    made.memory = memory;
    made.evaluation_micro = made.micro;
    made.forward_program = [](const Model&, const Program& program) { return program; };
    return made;
  }
  /// The plan with its type erased.
  static constexpr PlanView view = view_without_training();
};

}  // namespace sinter::detail
