// SPDX-License-Identifier: Apache-2.0
// The hooks of policies of every slot: members that Sinter looks for, each with its contract and
// form. `options` is the policy's Options, `state` its State.
//
// A member with a hook's name and another form does not compile. A policy that has a hook with some
// options only inherits it from a base (memory/checkpoint.hpp). `describe` lists the hooks of each
// policy. A policy that carries plain numbers from step to step lists them in an aggregate State,
// which is in checkpoints and equal on all ranks.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "sinter/base/range.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/policy/hook.hpp"
#include "sinter/policy/offer.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/policy/slots.hpp"

namespace sinter {

struct Batching;     // data/batching.hpp
struct BatchLimits;  // data/batch_shape.hpp
struct BatchShape;
struct DataTokens;     // data/objective.hpp
struct EarlyStopping;  // stopping/early_stop.hpp
struct Figure;         // data/unit.hpp
struct Objective;
struct ReplyWriting;      // evaluation/reply_writing.hpp
struct SamplingSettings;  // batch/sampling_settings.hpp
struct StepFigures;
struct Watched;  // metric/metric.hpp
enum class Reaction : std::uint8_t;

namespace detail {
struct Metric;  // metric/metric.hpp
template <class R>
struct PlanAsIs;  // recipe/plan.hpp

namespace hook {

// ---- hooks that change the training step, or forbid recipes

template <class P>
concept HasRegions = requires {
  P::regions.size();
  { *P::regions.begin() } -> std::convertible_to<Region>;
};
/// `regions` is an array of Region: state for each parameter, planned in the arena and saved in
/// checkpoints.
SINTER_HOOK(regions, HasRegions<P>, "static constexpr std::array regions{Region{...}}");
template <class P>
inline constexpr std::array<Region, 0> regions{};
template <HasRegions P>
inline constexpr auto& regions<P> = P::regions;

template <class P>
concept HasRules = requires { is_rule_list(typename P::rules{}); };
/// `rules` is a RuleList: what must hold of a recipe that uses the policy.
SINTER_HOOK(rules, HasRules<P>, "using rules = RuleList<...>");
template <class P>
inline constexpr RuleList<> rules{};
template <HasRules P>
inline constexpr typename P::rules rules<P>{};

template <class P>
concept HasModelRules = requires { is_rule_list(typename P::model_rules{}); };
/// `model_rules` is a RuleList: what must hold of the traced model.
SINTER_HOOK(model_rules, HasModelRules<P>, "using model_rules = RuleList<...>");
template <class P>
inline constexpr RuleList<> model_rules{};
template <HasModelRules P>
inline constexpr typename P::model_rules model_rules<P>{};

template <class P>
concept HasFrozen = requires {
  { *P::frozen.begin() } -> std::convertible_to<const char*>;
};
/// `frozen` is an array of patterns for the names of parameters that are not trained.
SINTER_HOOK(frozen, HasFrozen<P>, "static constexpr std::array frozen{..., of const char*}");
template <class P>
concept HasAdapter = requires {
  { *P::adapter::targets.begin() } -> std::convertible_to<const char*>;
  P::adapter::saved.size();
  { P::adapter::without_masters } -> std::convertible_to<bool>;
  { P::adapter::in_int8 } -> std::convertible_to<bool>;
};
/// `adapter` is a type with the arrays `targets` and `saved` of patterns for names of layers. Layers that
/// match `targets` get an adapter; those that match `saved` are trained whole; all other parameters stay.
/// It also has, where B is the size of the compute type,
///   Of<L, B>         the layer L with an adapter
///   Frozen<L, B>     the layer that stands for L where it stays: L, or one with the same parameters
///   without_masters  true if what stays is kept in the compute type alone
///   in_int8          true if some of what stays is to be stored in int8
SINTER_HOOK(adapter, HasAdapter<P>,
            "struct adapter {...}, with targets, saved, without_masters, in_int8, Of and Frozen");
template <class P>
concept HasParameterGroups = requires {
  { *P::parameter_groups.begin() } -> std::convertible_to<ParameterGroup>;
};
/// `parameter_groups` is an array of ParameterGroup; a parameter is in the first that it matches.
SINTER_HOOK(parameter_groups, HasParameterGroups<P>,
            "static constexpr std::array parameter_groups{ParameterGroup{...}}");
/// Rows of a micro-batch are padded to a multiple of `row_multiple`; the loss masks the padding.
SINTER_VALUE_HOOK(int, row_multiple, 1);

template <class P>
concept RewritesAny = requires(const Model& model, Program program) {
  { P::rewrite(model, std::move(program)) } -> std::convertible_to<Program>;
};
template <class P, class R>
concept RewritesOf = requires(const Model& model, Program program) {
  { P::template rewrite<R>(model, std::move(program)) } -> std::convertible_to<Program>;
};
/// rewrite(model, program) returns the program of training that replaces this one, at compile time.
/// It may have the recipe as a template argument.
SINTER_RECIPE_HOOK(rewrite, (RewritesOf<P, R> || RewritesAny<P>),
                   "static constexpr Program rewrite(const Model&, const Program&), which may be a "
                   "template of the recipe");
/// Rewrites a program by the policy P of the recipe R. (Without the hook nothing is copied: copies
/// cost most in constant evaluation.)
template <class P, class R>
constexpr void rewrite(const Model& model, Program& program) {
  if constexpr (RewritesOf<P, R>) {
    program = P::template rewrite<R>(model, std::move(program));
  } else if constexpr (RewritesAny<P>) {
    program = P::rewrite(model, std::move(program));
  }
}

template <class P>
concept RewritesForward = requires(const Model& model, const Program& program) {
  { P::rewrite_forward(model, program) } -> std::same_as<Program>;
};
/// rewrite_forward(model, program) returns the program of evaluation or prediction that replaces
/// this one. For predictions at each position it is also called at run time.
SINTER_HOOK(rewrite_forward, RewritesForward<P>,
            "static constexpr Program rewrite_forward(const Model&, const Program&)");
/// Rewrites a program of evaluation or prediction by the policy P.
template <class P>
constexpr void rewrite_forward(const Model& model, Program& program) {
  if constexpr (RewritesForward<P>) program = P::rewrite_forward(model, program);
}

template <class P>
concept HasStateRateFactor =
    requires(const typename P::Options& options, const typename P::State& state, int sequences) {
      { P::rate_factor(options, state, sequences) } -> std::convertible_to<double>;
    };
template <class P>
concept HasRateFactor = requires(const typename P::Options& options, int sequences) {
  { P::rate_factor(options, sequences) } -> std::convertible_to<double>;
};
template <class P>
concept ScalesRate = HasRateFactor<P> || HasStateRateFactor<P>;
/// rate_factor(options, sequences), or with a State rate_factor(options, state, sequences), returns
/// a factor of the learning rate for a batch of `sequences`.
SINTER_HOOK(rate_factor, ScalesRate<P>,
            "static double rate_factor(const Options&, int sequences), which may take const State& "
            "between");

template <class P>
concept HasLossScale = requires(const typename P::State& state) {
  { P::loss_scale(state) } -> std::convertible_to<double>;
};
/// loss_scale(state) returns the factor by which gradients are multiplied.
SINTER_HOOK(loss_scale, HasLossScale<P>, "static double loss_scale(const State&)");

template <class P>
concept ActsAfterFinite =
    requires(typename P::Options& options, typename P::State& state, bool finite) {
      { P::after_step(options, state, finite) } -> std::convertible_to<bool>;
    };
template <class P>
concept ActsAfterFigures =
    requires(typename P::Options& options, typename P::State& state, const StepFigures& step) {
      { P::after_step(options, state, step) } -> std::convertible_to<bool>;
    };
template <class P>
concept ActsAfterStep = ActsAfterFinite<P> || ActsAfterFigures<P>;
/// after_step(options, state, finite) is called after each step. It returns true if it has handled
/// a step that was not applied. It may take the step's figures (run/step_figures.hpp) in place of
/// `finite`.
SINTER_HOOK(after_step, ActsAfterStep<P>,
            "static bool after_step(const Options&, State&, bool finite or const StepFigures&)");
/// Passes the figures of a step to the policy P. Returns true if P has handled it.
template <ActsAfterStep P>
bool after_step(const auto& options, auto& state, const auto& step) {
  if constexpr (ActsAfterFinite<P>) {
    return P::after_step(options, state, step.finite()) && !step.finite();
  } else {
    return P::after_step(options, state, step);
  }
}

template <class P>
concept Recovers = requires(const typename P::Options& options, typename P::State& state,
                            const StepFigures& step) {
  { P::recover(options, state, step) } -> std::same_as<Reaction>;
};
/// recover(options, state, step) is called with the figures of each step that no other policy has
/// handled. It returns the Reaction (recovery/reaction.hpp) to a step that was not applied. Its
/// state survives a roll back. For the slot recovery.
SINTER_HOOK(recover, Recovers<P>,
            "static Reaction recover(const Options&, State&, const StepFigures&)");

template <class P>
concept ActsAfterEvaluation = requires(const typename P::Options& options, typename P::State& state,
                                       double loss) { P::after_evaluation(options, state, loss); };
template <class P>
concept ActsAfterWatched =
    requires(const typename P::Options& options, typename P::State& state, const Watched& figure) {
      P::after_evaluation(options, state, figure);
      { P::watches } -> std::convertible_to<std::string_view>;
    };
/// after_evaluation(options, state, loss) is called with each validation loss. Where the policy has
/// `watches`, the name of a metric of the recipe, or "" for the loss, it gets that figure as a
/// Watched (metric/metric.hpp) in place of the loss.
SINTER_HOOK(after_evaluation, (ActsAfterEvaluation<P> || ActsAfterWatched<P>),
            "static void after_evaluation(const Options&, State&, double loss), or with const "
            "Watched& beside static constexpr std::string_view watches");

template <class P>
concept ShapesBatches =
    requires(const typename P::Options& options, const BatchLimits& limits, BatchShape& shape) {
      P::next_batch(options, limits, std::uint64_t(0), shape);
      P::check_batch(options, limits);
    };
/// next_batch(options, limits, sequences, shape) changes its part of the shape of the batch after
/// the first `sequences` sequences (data/batch_shape.hpp). A policy that has it also has
/// check_batch(options, limits), which throws ArgumentError if options contradict.
SINTER_HOOK(next_batch, ShapesBatches<P>,
            "static void next_batch(const Options&, const BatchLimits&, std::uint64_t sequences, "
            "BatchShape&), beside static void check_batch(const Options&, const BatchLimits&)");

template <class P>
concept BatchesByOptions = requires(const typename P::Options& options) {
  requires std::same_as<decltype(P::batching(options, 1)), Batching>;
};
template <class P>
concept BatchesExamples =
    BatchesByOptions<P> || requires { requires std::same_as<decltype(P::batching(1)), Batching>; };
/// batching(options, sequences), or batching(sequences), returns the Batching (data/batching.hpp)
/// of at most `sequences` sequences: how the examples of data are put into batches.
SINTER_HOOK(batching, BatchesExamples<P>,
            "static Batching batching(int sequences), which may take const Options& before");
/// The Batching by the policy P.
template <BatchesExamples P>
auto batching(const auto& options, int sequences) {
  if constexpr (BatchesByOptions<P>) {
    return P::batching(options, sequences);
  } else {
    return P::batching(sequences);
  }
}
/// `pads` is true if `batching` pads sequences (Batching::pads).
SINTER_VALUE_HOOK(bool, pads, false);

template <class P>
concept HasObjective = requires(const typename P::Options& options, const DataTokens& tokens) {
  requires std::same_as<decltype(P::objective(options, tokens)), Objective>;
};
/// objective(options, tokens) returns the Objective (data/objective.hpp) for these tokens: which
/// are shown and which are predicted.
SINTER_HOOK(objective, HasObjective<P>,
            "static Objective objective(const Options&, const DataTokens&)");

template <class P>
concept SmoothsLabels = requires(const typename P::Options& options) {
  { P::label_smoothing(options) } -> std::convertible_to<double>;
};
/// label_smoothing(options) returns the share of a target that cross-entropies divide among all
/// classes in training, at least 0 and below 1.
SINTER_HOOK(label_smoothing, SmoothsLabels<P>, "static double label_smoothing(const Options&)");

template <class P>
concept WeighsClasses = requires {
  requires std::same_as<std::remove_cvref_t<decltype(*P::class_weights.begin())>, double>;
};
/// `class_weights` is an array with a weight for each class, by which the cross-entropy multiplies
/// losses in training.
SINTER_HOOK(class_weights, WeighsClasses<P>,
            "static constexpr std::array class_weights{..., of double}");

template <class P>
concept HasMetrics =
    requires { requires std::same_as<std::remove_cvref_t<decltype(*P::metrics.begin())>, Metric>; };
/// `metrics` is an array of Metric (metric/metric.hpp): figures of an evaluation beside the loss.
SINTER_HOOK(metrics, HasMetrics<P>, "static constexpr std::array metrics{metric_of<...>()}");

template <class P>
concept StopsEarly = requires(const typename P::Options& options) {
  requires std::same_as<decltype(P::early_stop(options)), EarlyStopping>;
};
/// early_stop(options) returns when a loop ends before its last step (stopping/early_stop.hpp).
SINTER_HOOK(early_stop, StopsEarly<P>, "static EarlyStopping early_stop(const Options&)");

template <class P>
concept WritesReplies = requires(const typename P::Options& options) {
  requires std::same_as<decltype(P::writes(options)), ReplyWriting>;
};
/// writes(options) returns how evaluations write replies to examples (evaluation/reply_writing.hpp).
SINTER_HOOK(writes, WritesReplies<P>, "static ReplyWriting writes(const Options&)");
/// `reply_rows` is how many texts, or hypotheses of beam searches, such evaluations write at once; 0:
/// as many as Generation plans.
SINTER_VALUE_HOOK(int, reply_rows, 0);

template <class P>
concept SaysSampling = std::same_as<decltype(P::sampling), const SamplingSettings>;
/// `sampling` is what the recipe says of choosing tokens (batch/sampling_settings.hpp).
SINTER_HOOK(sampling, SaysSampling<P>, "static constexpr SamplingSettings sampling");

// ---- hooks that assist these, or describe the policy

template <class P>
concept HasInitial = requires(const typename P::Options& options) {
  { P::initial(options) } -> std::convertible_to<typename P::State>;
};
/// initial(options) returns the first state, if that is not State{}.
SINTER_HOOK(initial, HasInitial<P>, "static State initial(const Options&)");
/// The first state of the policy P.
template <class P>
typename P::State initial(const auto& options) {
  if constexpr (HasInitial<P>) return P::initial(options);
  return {};
}

template <class P>
concept HasHeadline =
    HasObjective<P> && requires { requires std::same_as<decltype(P::headline), const Figure>; };
/// `headline` is the Figure (data/unit.hpp) that is shown beside the loss. For policies with an
/// objective.
SINTER_HOOK(headline, HasHeadline<P>, "static constexpr Figure headline, beside objective()");

template <class P>
concept HasContradiction = requires(const typename P::Options& options) {
  { P::contradiction(options) } -> std::convertible_to<Contradiction>;
};
/// contradiction(options) returns the Contradiction between options, if there is one. It is
/// constexpr, and called when a recipe compiles and when a trainer is made, if each option is
/// within its range.
SINTER_HOOK(contradiction, HasContradiction<P>,
            "static constexpr Contradiction contradiction(const Options&)");
/// The contradiction between options of the policy P; false, as a bool, if there is none.
template <class P>
constexpr Contradiction contradiction(const auto& options) {
  if constexpr (HasContradiction<P>) return P::contradiction(options);
  return {};
}

template <class P>
concept HasWhyFixed = requires(std::string_view name) {
  { P::why_fixed(name) } -> std::convertible_to<std::string_view>;
};
/// why_fixed(name) returns why an option that its list calls adjustable is fixed in this policy; ""
/// if it is adjustable.
SINTER_HOOK(why_fixed, HasWhyFixed<P>,
            "static constexpr std::string_view why_fixed(std::string_view option)");
/// The reason why an option of the policy P is fixed, or "".
template <class P>
std::string_view why_fixed(std::string_view name) {
  if constexpr (HasWhyFixed<P>) return P::why_fixed(name);
  return "";
}

template <class P>
concept HasOffered = requires {
  { P::offered } -> std::convertible_to<Offer>;
};
/// `offered` is an Offer: the words and the cost with which `describe` suggests the policy where it
/// would save memory, if recipe/techniques.hpp lists it.
SINTER_HOOK(offered, HasOffered<P>, "static constexpr Offer offered");

template <class P, class R>
concept NotesOptions = requires(const typename P::Options& options, const BatchLimits& limits) {
  { P::template note<R>(options, limits) } -> std::convertible_to<std::string>;
};
template <class P, class R>
concept NotesPlan = requires {
  { P::template note<R, PlanAsIs>() } -> std::convertible_to<std::string>;
};
/// note<R>(options, limits), or note<R, PlanOf>() with the planner, returns a line that says what
/// the policy has chosen for the recipe R.
SINTER_RECIPE_HOOK(
    note, (NotesOptions<P, R> || NotesPlan<P, R>),
    "template <class R> static std::string note(const Options&, const BatchLimits&)");

/// `by_shards` is true if its kinds work on shards (Kind::by_shards), where ranks share the update.
/// Each rank then holds only its shards of the policy's regions.
SINTER_VALUE_HOOK(bool, by_shards, false);
/// `offloads_state` is true if the optimizer's state lives outside of the arena (Region::row). Its
/// rewrite() fetches a unit's state before its update and stores it afterwards.
SINTER_VALUE_HOOK(bool, offloads_state, false);
/// `offloads_weights` is true if master weights live outside of the arena (Model::masters). Its
/// rewrites also fetch a unit's master weights before they are read.
SINTER_VALUE_HOOK(bool, offloads_weights, false);
/// `rewrites_last` is true if its rewrite() runs after all others. Only in a user's own slot.
SINTER_VALUE_HOOK(bool, rewrites_last, false);

}  // namespace hook

/// The hooks that change the training step or forbid recipes. A policy in a slot of its own without
/// any of these would do nothing.
using ActingHooks =
    HookList<hook::regions_hook, hook::rules_hook, hook::model_rules_hook, hook::frozen_hook,
             hook::adapter_hook, hook::parameter_groups_hook, hook::row_multiple_hook,
             hook::rewrite_hook, hook::rewrite_forward_hook, hook::rate_factor_hook,
             hook::loss_scale_hook, hook::after_step_hook, hook::recover_hook,
             hook::after_evaluation_hook, hook::next_batch_hook, hook::batching_hook,
             hook::objective_hook, hook::label_smoothing_hook, hook::class_weights_hook,
             hook::metrics_hook, hook::early_stop_hook, hook::writes_hook, hook::reply_rows_hook,
             hook::sampling_hook>;
/// All hooks of policies of every slot.
using AllSlotsHooks =
    ActingHooks::With<hook::initial_hook, hook::headline_hook, hook::contradiction_hook,
                      hook::why_fixed_hook, hook::offered_hook, hook::note_hook,
                      hook::by_shards_hook, hook::offloads_state_hook, hook::offloads_weights_hook,
                      hook::rewrites_last_hook>;

/// The hooks of the policy P of the recipe R that change the training step or forbid recipes.
template <class P, class R>
constexpr auto acting_hooks() {
  return hooks_among<P, R>(ActingHooks{});
}

/// True if the recipe R obeys the rules of the policy P.
template <class R, class P>
[[nodiscard]] constexpr bool rules_hold() {
  return hold<R>(hook::rules<P>);
}
}  // namespace detail

}  // namespace sinter
