// SPDX-License-Identifier: Apache-2.0
// The plan of a Generator: two constant programs beside those of training, and their memory.
//   prefill   reads parts of one or more texts, and writes to their slots of the caches
//   decode    adds one row to each of several texts
// Both are the model's predict(), planned for their rows, with Layer::extend where a layer has it.
#pragma once
#include "sinter/batch/generation.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/recipe/continues.hpp"
#include "sinter/recipe/predictor_plan.hpp"

namespace sinter::detail {

/// The program that adds a row to each text: the units that read axis 0.
constexpr Program decode_program(const Model& model) {
  Program program;
  program.reserve(std::size_t(model.count()) + 8);
  program.push_back({&load});
  for (int u = 0; u < model.count(); ++u)
    if (model.plan(u).at(Phase::evaluate).calls > 0) program.push_back({&evaluate, short(u)});
  for (int value : model.results) program.push_back({&result, short(value)});
  return program;
}

/// How many texts a Generator of the recipe R continues at once.
template <class R>
inline constexpr int generated_rows =
    R::template Pick<slot::generation, Generation<>>::options.rows;
/// How many tokens of a text it keeps.
template <class R>
inline constexpr int generated_context = [] {
  constexpr int asked = R::template Pick<slot::generation, Generation<>>::options.context;
  return asked > 0 ? asked : R::data::context;
}();

/// The plan of generation by the recipe R, of up to Texts texts of Context tokens at once.
/// IsQuantized: false to leave its policy in the slot `quantization` out.
/// requires  continues_texts<R>()
template <class R, int Texts = generated_rows<R>, bool IsQuantized = true,
          int Context = generated_context<R>>
struct GenerationPlan {
  using Planned =
      typename decltype(recipe_of_weights<typename detail::Planned<R>::type, IsQuantized>())::type;
  using Training = Traced<Planned, TrainingTrace>;
  using Predicting = Traced<Planned, PredictionTrace>;

  static constexpr int context = Context;
  static constexpr bool has_encoder = is_encoder_decoder(Predicting::model);
  static constexpr int other_context = has_encoder ? hook::second_context<typename R::data> : 0;
  static constexpr int texts = Texts;
  /// How much prefill reads at once. More rows make no product faster; a decoder beside an encoder
  /// begins with a few.
  static constexpr int prefill_texts = std::min(texts, 16);
  static constexpr int prefill_rows =
      int(std::min<std::int64_t>(std::int64_t(prefill_texts) * context, has_encoder ? 16 : 256));
  static constexpr int prefill_other_rows = int(std::max<std::int64_t>(
      other_context, std::min<std::int64_t>(std::int64_t(prefill_texts) * other_context, 256)));

  /// The model whose weights are loaded.
  static constexpr Model stored = only_weights(Training::model, true);

  static constexpr Sizes sizes_of(int rows, int other_rows, int sequences) {
    Sizes sizes = only_weights(Predicting::model, true).sizes;
    sizes.rows = {rows, other_rows, sequences, sequences};
    return sizes;
  }
  using Units =
      FrozenUnits<Predicting::plans_per_block * Predicting::count.blocks, Predicting::count.nodes>;
  static constexpr Model with(const Units& units) {
    Model model = only_weights(Predicting::model, true);
    model.plans = units.plans.view();
    model.layer_calls = units.layer_calls.view();
    model.sizes = units.sizes;
    return model;
  }
  static constexpr int new_rows = std::min(prefill_rows, context);  // of one text
  static constexpr Caching caching{texts, {context, other_context}, new_rows, false};
  static constexpr Caching decode_caching{texts, {context, other_context}, new_rows, true};

  static constexpr Units prefill_units{
      Predicting::model, sizes_of(prefill_rows, prefill_other_rows, prefill_texts), caching};
  static constexpr Model prefilling = with(prefill_units);
  static constexpr FrozenProgram<Predicting::count.units, 8> prefill{prefilling,
                                                                     prediction(prefilling)};
  static constexpr Units decode_units{Predicting::model, sizes_of(texts, 0, texts), decode_caching};
  static constexpr Model decoding = with(decode_units);
  static constexpr FrozenProgram<Predicting::count.units, 8> decode{decoding,
                                                                    decode_program(decoding)};

  static constexpr Verdict prefill_verdict =
      verify(prefilling, prefill.instructions.view(), {false, false});
  static constexpr Verdict decode_verdict =
      verify(decoding, decode.instructions.view(), {false, false});
  static_assert(prefill_verdict.fine() && decode_verdict.fine(),
                "Sinter: a program of generation breaks a rule of the verifier; please report it.");
  static_assert(prefill.persistent == decode.persistent, "both programs share weights and caches");

  /// The bytes of the arena by purpose.
  static constexpr Memory memory = memory_of(
      stored, prefill.view(), std::max(prefill.peak, decode.peak), &tag_of<typename R::optimizer>);

  static constexpr PlanView view_without_training() {
    PlanView made = Plan<R>::view;
    made.model = made.evaluating = stored;
    made.predicting = made.predicting_rows = prefilling;
    made.training = made.evaluation = prefill.view();
    made.training.program = made.evaluation.program = {};
    made.prediction = prefill.view();
    made.memory = memory;
    made.matmul_inputs = kernel::MatmulInputs::in_place;
    made.decoding = decoding;
    made.decode = decode.view();
    made.context = context;
    made.max_texts = texts;
    made.prefill_texts = prefill_texts;
    made.prefill_rows = prefill_rows;
    made.prefill_other_rows = prefill_other_rows;
    return made;
  }
  /// The plan with its type erased.
  static constexpr PlanView view = view_without_training();
};

}  // namespace sinter::detail
