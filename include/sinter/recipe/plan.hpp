// SPDX-License-Identifier: Apache-2.0
// The plan of a recipe: constants, each a plain function of the constants before it.
//   trace            model type -> graph
//   plan units       graph -> model
//   plain, policies  model -> program
//   place            program -> buffers
//   verify           program -> verdict
//   simulate         the program on all ranks -> verdict
#pragma once
#include "sinter/clipping/clipping.hpp"
#include "sinter/optimizer/optimizer.hpp"
#include "sinter/plan/evaluation.hpp"
#include "sinter/plan/flops.hpp"
#include "sinter/plan/plan_view.hpp"
#include "sinter/program/verify.hpp"
#include "sinter/proof/proof.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/recipe/traced.hpp"

namespace sinter {

namespace detail {
/// A program and its placement as constants, with room for PerUnit × Units + 32 instructions and as
/// many buffers. A larger program does not compile. (Constant evaluation pays for room, used or
/// not.)
template <int Units, int PerUnit>
struct FrozenProgram {
  static constexpr int room = PerUnit * Units + 32;
  List<Instruction, room> instructions;
  List<Buffer, room> buffers;
  std::int64_t persistent, workspace, peak;

  constexpr FrozenProgram(const Model& model, std::span<const Instruction> program)
      : instructions(program) {
    Placement placement = place(model, program);
    buffers = decltype(buffers)(placement.buffers);
    persistent = placement.persistent;
    workspace = placement.workspace;
    peak = placement.peak;
  }
  constexpr PlacementView view() const {
    return {instructions.view(), buffers.view(), persistent, workspace, peak};
  }
};

/// Rewrites a program by each policy whose rewrites_last is Last, in their order.
template <class R, bool Last, class... Policies>
constexpr void rewrite_by_all(PolicyList<Policies...>, const Model& model, Program& program) {
  ((hook::rewrites_last<Policies> == Last ? hook::rewrite<Policies, R>(model, program) : void()),
   ...);
}

/// Returns a program of evaluation or prediction, rewritten by all policies of a list.
template <class... Policies>
constexpr Program forward_by_all(PolicyList<Policies...>, const Model& model,
                                 const Program& program) {
  Program rewritten = program;
  (hook::rewrite_forward<Policies>(model, rewritten), ...);
  return rewritten;
}
/// Returns a program of evaluation or prediction, rewritten by the policies of the recipe R.
template <class R>
constexpr Program forward_program(const Model& model, const Program& program) {
  return forward_by_all(typename R::all{}, model, program);
}

/// The model's units, planned as constants for forward alone.
template <int Plans, int Nodes>
struct FrozenUnits {
  List<UnitPlan, Plans> plans;
  List<LayerCall, Nodes> layer_calls;
  Sizes sizes;

  /// Plans them to evaluate `sequences` sequences at once.
  constexpr FrozenUnits(const Model& model, int micro, int sequences)
      : FrozenUnits(model, sizes_for(model.sizes, micro, sequences)) {}
  /// Plans them for rows of these sizes, to continue texts if there is a cache.
  constexpr FrozenUnits(const Model& model, const Sizes& s, const Caching& caching = {})
      : sizes(s) {
    const EvaluationUnits units(model, sizes, caching);
    plans = decltype(plans)(units.plans);
    layer_calls = decltype(layer_calls)(units.layer_calls);
  }
};

/// The plan of a recipe, before its memory policy chooses. A member is computed at its first use.
/// requires  R is legal
template <class R>
struct PlanAsIs {
  /// The trace of training, a constant.
  using Training = Traced<R, TrainingTrace>;
  using Predicting = Traced<R, PredictionTrace>;  ///< the trace of prediction
  /// The model as it is trained, with the plans of its units.
  static constexpr const Model& model = Training::model;

  // ---- programs
  /// The plain program, rewritten by the policies: first those in Sinter's slots, then all others,
  /// and at the end those with rewrites_last.
  static constexpr Program write_training() {
    Program rewritten = plain(model, &norm_kind<typename R::clipping>,
                              &update_kind<typename R::optimizer, typename R::precision>);
    using First = PolicyList<typename R::memory, typename R::parallel, typename R::precision,
                             typename R::optimizer, typename R::schedule, typename R::clipping,
                             typename R::batch, typename R::data, typename R::model>;
    rewrite_by_all<R, false>(First{}, model, rewritten);
    rewrite_by_all<R, false>(typename R::extras{}, model, rewritten);
    rewrite_by_all<R, true>(typename R::extras{}, model, rewritten);
    return rewritten;
  }
  /// Type of the program of training, with room for what policies may add.
  using RoomForTraining =
      FrozenProgram<Training::count.units,
                    model.is_offloaded(Space::master) ? 26 : (model.has_offload() ? 18 : 14)>;
  /// Instructions of training. (A separate constant, as compilers limit the cost of each.)
  static constexpr List<Instruction, RoomForTraining::room> written{write_training()};
  /// The program of training, with its placement.
  static constexpr RoomForTraining training{model, written.view()};
  /// The instructions of training.
  static constexpr std::span<const Instruction> program = training.instructions.view();
  /// The model of predict(), which shares the parameters.
  static constexpr const Model& predicting = Predicting::model;
  /// The model that predicts at each position: of predict_rows() if there is one, else of
  /// predict().
  static constexpr const Model& predicting_rows = []() -> const Model& {
    if constexpr (PredictsRows<R>) {
      return Traced<R, RowPredictionTrace>::model;
    } else {
      return predicting;
    }
  }();
  /// The program of a prediction.
  static constexpr FrozenProgram<Predicting::count.units, 8> prediction{
      predicting, forward_program<R>(predicting, detail::prediction(predicting))};

  /// The program of an evaluation in training's micro-batches.
  static constexpr Program write_evaluation() {
    return forward_program<R>(model, detail::evaluation(model));
  }

  // ---- order
  /// The verifier's verdict on the program of training.
  static constexpr Verdict verdict = verify(model, program, {true, R::parallel::reduces});
  /// The verifier's verdict on the program of evaluation.
  static constexpr Verdict evaluation_verdict = verify(model, write_evaluation(), {false, false});
  /// The verifier's verdict on the program of prediction.
  static constexpr Verdict prediction_verdict =
      verify(predicting, prediction.instructions.view(), {false, false});
  /// True if the programs are sound; otherwise also makes one compile error.
  [[nodiscard]] static constexpr bool verified() {
    if constexpr (!verdict.fine()) {
      constexpr bool inside = verdict.at < int(program.size());
      constexpr std::string_view rule = verdict.what,
                                 name = inside ? program[verdict.at].kind->name : "the end";
      (void)&the_program_is_wrong<R, Text<rule.size() + 1>(rule), Text<name.size() + 1>(name),
                                  verdict.at>;
      return false;
    } else if constexpr (constexpr Verdict found =
                             evaluation_verdict.fine() ? prediction_verdict : evaluation_verdict;
                         !found.fine()) {
      constexpr std::string_view rule = found.what;
      (void)&the_forward_program_is_wrong<R, Text<rule.size() + 1>(rule), found.at>;
      return false;
    } else if constexpr (R::parallel::reduces) {
      return fits_together();
    } else {
      return true;
    }
  }
  /// True if rank First has the traffic of rank 0. (One constant for each rank, as compilers limit
  /// the cost.)
  template <int Ranks, int Iterations, int First>
  static constexpr bool is_alike =
      communicate_alike(model, program, Ranks, Iterations, First, First + 1);
  /// True if the ranks from First on have the traffic of rank 0.
  template <int Ranks, int Iterations, int First = 1>
  static constexpr bool alike() {
    if constexpr (First >= Ranks) {
      return true;
    } else {
      return is_alike<Ranks, Iterations, First> && alike<Ranks, Iterations, First + 1>();
    }
  }
  /// The verdict of a simulation of the training program on `Ranks` ranks, with `Iterations`
  /// iterations of the loop.
  template <int Ranks, int Iterations>
  static constexpr WorldVerdict together =
      simulate(model, program, Ranks, Iterations, alike<Ranks, Iterations>());

  // ---- sizes
  /// Bytes that an evaluation in training's micro-batches needs.
  static constexpr std::int64_t evaluation_peak = place(model, write_evaluation()).peak;
  /// The bytes of the arena by purpose.
  static constexpr Memory memory =
      memory_of(model, training.view(), std::max({training.peak, evaluation_peak, prediction.peak}),
                &tag_of<typename R::optimizer>);
  /// Bytes of the arena: everything that the step needs.
  static constexpr std::int64_t bytes = memory.total;

  // ---- evaluation, of as many sequences at once as the arena holds
  /// Sequences that an evaluation computes at once.
  static constexpr int evaluation_micro = [] {
    constexpr int micro = R::batch::micro;
    constexpr EvaluationSearch search(micro, evaluation_bound(micro, R::data::context),
                                      training.persistent, evaluation_peak, bytes);
    return max_sequences<Training::model, micro, search, forward_program<R>>();
  }();
  static constexpr FrozenUnits<Training::plans_per_block * Training::count.blocks,
                               Training::count.nodes>
      evaluation_units{model, R::batch::micro, evaluation_micro};
  /// The model, with units planned to evaluate evaluation_micro sequences at once.
  static constexpr Model evaluating = [] {
    Model wider = model;
    wider.plans = evaluation_units.plans.view();
    wider.layer_calls = evaluation_units.layer_calls.view();
    wider.sizes = evaluation_units.sizes;
    return wider;
  }();
  /// The program of an evaluation, in micro-batches of evaluation_micro sequences.
  static constexpr FrozenProgram<Training::count.units, 8> evaluation{
      evaluating, forward_program<R>(evaluating, detail::evaluation(evaluating))};

  /// Elements of all parameters, each counted once, without padding.
  static constexpr std::int64_t parameters = [] {
    std::int64_t sum = 0;
    for (const Unit& unit : model.units) sum += model.blocks[unit.block].parameters;
    return sum;
  }();
  /// FLOP for one token of a full sequence, forward and backward (flops.hpp). A GPT needs 6 for
  /// each parameter in a matmul (including the tied head; not biases, norms and look-ups). Its
  /// causal attention adds 6 × layers × width × context, with each pair of tokens counted once.
  static constexpr std::int64_t flops_per_token =
      training_flops(model, R::data::context, hook::second_context<typename R::data>);

  /// The plan with its type erased.
  static constexpr PlanView view{.model = model,
                                 .evaluating = evaluating,
                                 .predicting = predicting,
                                 .predicting_rows = predicting_rows,
                                 .training = training.view(),
                                 .evaluation = evaluation.view(),
                                 .prediction = prediction.view(),
                                 .memory = memory,
                                 .parameters = parameters,
                                 .flops_per_token = flops_per_token,
                                 .micro = R::batch::micro,
                                 .evaluation_micro = evaluation_micro,
                                 .context = R::data::context,
                                 .second_context = hook::second_context<typename R::data>,
                                 .vocabulary = R::data::vocabulary,
                                 .row_multiple = row_multiple<R>(),
                                 .recomputed = Training::inside,
                                 .matmul_inputs = hook::matmul_inputs<typename R::precision>,
                                 .optimizer = &tag_of<typename R::optimizer>,
                                 .forward_program = forward_program<R>};

 private:
  /// True if the ranks' programs fit together, on each number of ranks in proved_ranks from index K
  /// on.
  template <std::size_t K = 0>
  static constexpr bool fits_together() {
    if constexpr (model.shards > proved_ranks.back()) {
      return true;  // too many for a compiler: a trainer proves it when it is made
    } else if constexpr (model.shards > 1) {
      return fits_on<model.shards>();  // there is no other number
    } else if constexpr (K == proved_ranks.size()) {
      return true;
    } else if constexpr (!fits_on<proved_ranks[K]>()) {
      return false;
    } else {
      return fits_together<K + 1>();
    }
  }
  template <int Ranks, int Iterations = 1>
  static constexpr bool fits_on() {
    constexpr WorldVerdict found = together<Ranks, Iterations>;
    if constexpr (!found.fine()) {
      constexpr std::string_view rule = found.what;
      constexpr std::size_t size = place_letters(model, program, found.one).view().size();
      constexpr std::size_t other_size = place_letters(model, program, found.other).view().size();
      constexpr Text<size + 1> one(place_letters(model, program, found.one).view());
      constexpr Text<other_size + 1> other(place_letters(model, program, found.other).view());
      (void)&the_ranks_do_not_fit_together<R, Ranks, Text<rule.size() + 1>(rule), found.one.rank,
                                           one, found.one.position, found.other.rank, other,
                                           found.other.position>;
      return false;
    } else if constexpr (Iterations < telling_iterations(program)) {
      return fits_on<Ranks, Iterations + 1>();
    } else {
      return true;
    }
  }
};

/// The recipe that is planned in place of R: its memory policy's choice, or R itself.
template <class R>
struct Planned {
  using type = R;
};
template <class R>
  requires requires { typename R::memory::template Chosen<R, PlanAsIs>; }
struct Planned<R> {
  using type = typename R::memory::template Chosen<R, PlanAsIs>;
};
}  // namespace detail

/// The plan of a recipe, after its memory policy has chosen (Budget).
/// requires  R is legal
template <class R>
struct Plan : detail::PlanAsIs<typename detail::Planned<R>::type> {};

namespace detail {
/// True if the units of one graph of a model are joined correctly; otherwise also makes one compile
/// error.
template <class R, class Which>
constexpr bool is_joined() {
  constexpr Fault fault = Traced<R, Which>::count.fault;
  if constexpr (fault.what && !fault.told) {
    constexpr std::string_view mistake = fault.what, unit = fault.unit;
    constexpr Text<mistake.size() + 1> what(mistake);
    constexpr Text<unit.size() + 1> where(unit);
    if constexpr (fault.of_policy) {
      (void)&a_policy_names_parameters_wrongly<R, what, where>;
    } else {
      (void)&the_model_is_wrong<R, what, where, fault.number>;
    }
  }
  return !fault.what;
}

/// True if is_joined() holds for all graphs of a recipe's model.
template <class R>
constexpr bool is_joined_in_all() {
  if constexpr (!is_joined<R, TrainingTrace>()) {
    return false;
  } else if constexpr (!is_joined<R, PredictionTrace>()) {
    return false;
  } else if constexpr (PredictsRows<R>) {
    return is_joined<R, RowPredictionTrace>();
  } else {
    return true;
  }
}

/// True if the model takes ids or the data has none; otherwise also makes one compile error.
template <class R>
constexpr bool takes_what_data_gives() {
  constexpr bool fits = R::data::vocabulary == 0 ||
                        std::ranges::any_of(Traced<R, TrainingTrace>::model.externals,
                                            [](const External& input) { return input.width == 0; });
  if constexpr (!fits) (void)&the_model_takes_no_ids<typename R::model, typename R::data>;
  return fits;
}

/// True if a rule holds for the traced model of the recipe R.
template <class R, class Rule>
constexpr bool model_obeys() {
  constexpr const Model& model = Traced<R, TrainingTrace>::model;
  if constexpr (requires { Rule::template holds<R>(model); }) {
    return Rule::template holds<R>(model);
  } else {
    return Rule::holds(model);
  }
}
template <class R, class... Rules>
constexpr bool model_obeys(RuleList<Rules...>) {
  [[maybe_unused]] auto obeys = []<class Rule>(Rule*) {
    constexpr bool holds = model_obeys<R, Rule>();
    if constexpr (!holds) (void)&Rule::template enforce<R>;
    return holds;
  };
  return (obeys(static_cast<Rules*>(nullptr)) && ...);
}
/// True if the traced model obeys the `model_rules` of all policies.
template <class R, class... All>
constexpr bool model_obeys_all(PolicyList<All...>) {
  return (model_obeys<R>(hook::model_rules<All>) && ...);
}
}  // namespace detail

/// True if a recipe may run: its rules hold, and its programs are proved sound. Otherwise also
/// makes one compile error.
template <class R>
[[nodiscard]] constexpr bool ready() {
  if constexpr (!requires { typename R::all; }) {
    (void)&detail::this_is_not_a_recipe<R>;
    return false;
  } else if constexpr (!R::template is_legal<R>()) {
    return false;
  } else if constexpr (!detail::is_joined_in_all<R>()) {
    return false;
  } else if constexpr (!detail::takes_what_data_gives<R>()) {
    return false;
  } else if constexpr (!detail::model_obeys_all<R>(typename R::all{})) {
    return false;
  } else if constexpr (requires { R::memory::template fits<R, Plan>(); }) {
    if constexpr (R::memory::template fits<R, Plan>()) return Plan<R>::verified();
    return false;
  } else {
    return Plan<R>::verified();
  }
}

}  // namespace sinter
