// SPDX-License-Identifier: Apache-2.0
// The hooks of policies: members that Sinter looks for in a policy of any slot, with their
// arguments. All code finds hooks by the concepts here. So a member of this name with other
// arguments is no hook, and `describe` does not list it.
//
// Options are checked when a recipe compiles, and when a trainer is made. In addition to the ranges
// of single numbers a policy may have
//   contradiction(options)   constexpr: returns the Contradiction between options, if there is one;
//                            called only if each option is within its range
//   why_fixed(name)          returns why an option that its list calls adjustable is fixed in this
//                            policy; "" if it is adjustable
// Any policy may also have
//   offered            an Offer: the words and the cost with which `describe` suggests the policy
//                      where it would save memory, if recipe/techniques.hpp lists it
//   note<R>(options, limits), or, with the planner, note<R, PlanOf>()   returns a line that says
//                      what the policy has chosen for the recipe R
//   regions            an array of Region: state for each parameter, planned in the arena and saved
//                      in checkpoints
//   rules              a RuleList: what must hold of a recipe that uses the policy
//   model_rules        a RuleList: what must hold of the traced model
//   frozen             patterns for the names of parameters that are not trained
//   parameter_groups   an array of ParameterGroup; a parameter is in the first that it matches
//   row_multiple       rows of a micro-batch are padded to a multiple of it; the loss masks the padding
//   by_shards          true if its kinds work on shards (Kind::by_shards), where ranks share the
//                      update; each rank then holds only its shards of the policy's regions
//   offloads_state     true if the optimizer's state lives outside of the arena (Region::row); its
//                      rewrite() fetches a unit's state before its update and stores it afterwards
//   offloads_weights   true if master weights live outside of the arena (Model::masters); its rewrites
//                      also fetch a unit's master weights before they are read
//   rewrites_last      true if its rewrite() runs after all others (only in a user's own slot)
//   rewrite(model, program)           returns the program of training that replaces this one, at compile time
//   rewrite_forward(model, program)   returns the program of evaluation or prediction that replaces this
//                                     one; for predictions at each position also called at run time
//   rate_factor(options, sequences)   a factor of the learning rate, for a batch of `sequences`; with
//                                     a State, rate_factor(options, state, sequences)
// A policy that carries plain numbers from step to step has
//   State                                    an aggregate that lists them; in checkpoints, equal on all ranks
// and may have
//   initial(options)                         the first state, if it is not State{}
//   loss_scale(state)                        the factor by which gradients are multiplied
//   after_step(options, state, finite)       called after each step; returns true if it has handled
//                                            a step that was not applied. It may take the step's
//                                            figures (run/step_figures.hpp) in place of `finite`
//   recover(options, state, step)            called with the figures of each step that no other
//                                            policy has handled; returns the Reaction
//                                            (recovery/reaction.hpp) to a step that was not applied.
//                                            Its state survives a roll back. For the slot recovery
//   after_evaluation(options, state, loss)   called with each validation loss
// A schedule with a State has factor(options, state, step).
// A policy that puts the examples of data into batches (data/batching.hpp) has
//   batching(options, sequences), or batching(sequences) if it has no options
//                                                   returns the Batching of at most `sequences`
// A policy that chooses which tokens are shown and which are predicted (data/objective.hpp) has
//   objective(options, tokens)                      returns the Objective for these tokens
//   headline                                        the Figure (data/unit.hpp) shown beside the loss
// A policy that changes the global batch in the course of training (data/batch_shape.hpp) has
//   next_batch(options, limits, sequences, shape)   changes its part of the shape of the batch after
//                                                   the first `sequences` sequences
//   check_batch(options, limits)                    throws ArgumentError if options contradict
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sinter/policy/slots.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

struct Batching;     // data/batching.hpp
struct BatchLimits;  // data/batch_shape.hpp
struct BatchShape;
struct DataRequest;  // data/data_view.hpp
struct DataTokens;   // data/objective.hpp
struct Figure;       // data/unit.hpp
struct Objective;
struct StepFigures;
struct Tokenizer;  // data/tokenizer/tokenizer.hpp
enum class Reaction : std::uint8_t;

namespace detail {
namespace hook {

template <class P>
concept HasRegions = requires { P::regions; };
template <class P>
concept HasRules = requires { typename P::rules; };
template <class P>
concept HasModelRules = requires { typename P::model_rules; };
template <class P>
concept HasFrozen = requires { P::frozen; };
template <class P>
concept HasParameterGroups = requires { P::parameter_groups; };
template <class P>
concept WorksOnShards = requires { P::by_shards; } && P::by_shards;
template <class P>
concept HasRowMultiple = requires {
  { P::row_multiple } -> std::convertible_to<int>;
};
template <class P>
concept RewritesAny =
    requires(const Model& model, Program program) { P::rewrite(model, std::move(program)); };
template <class P>
concept RewritesForward = requires(const Model& model, const Program& program) {
  { P::rewrite_forward(model, program) } -> std::same_as<Program>;
};
/// True if P has a rewrite() with the recipe R as its template argument.
template <class P, class R>
concept RewritesOf = requires(const Model& model, Program program) {
  P::template rewrite<R>(model, std::move(program));
};
template <class P>
concept HasRateFactor = requires(const typename P::Options& options, int sequences) {
  { P::rate_factor(options, sequences) } -> std::convertible_to<double>;
};
template <class P>
concept HasStateRateFactor =
    requires(const typename P::Options& options, const typename P::State& state, int sequences) {
      { P::rate_factor(options, state, sequences) } -> std::convertible_to<double>;
    };
template <class P>
concept HasLossScale = requires(const typename P::State& state) {
  { P::loss_scale(state) } -> std::convertible_to<double>;
};
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
template <class P>
concept Recovers = requires(const typename P::Options& options, typename P::State& state,
                            const StepFigures& step) {
  { P::recover(options, state, step) } -> std::same_as<Reaction>;
};
template <class P>
concept ActsAfterEvaluation = requires(typename P::Options& options, typename P::State& state,
                                       double loss) { P::after_evaluation(options, state, loss); };
template <class P>
concept HasInitial = requires(const typename P::Options& options) { P::initial(options); };
/// True if P changes the global batch in the course of training, for which it needs both members.
template <class P>
concept ShapesBatches =
    requires(const typename P::Options& options, const BatchLimits& limits, BatchShape& shape) {
      P::next_batch(options, limits, std::uint64_t(0), shape);
      P::check_batch(options, limits);
    };
/// True if P puts examples into batches as its options determine.
template <class P>
concept BatchesByOptions = requires(const typename P::Options& options) {
  requires std::same_as<decltype(P::batching(options, 1)), Batching>;
};
/// True if P puts examples into batches, with or without options.
template <class P>
concept BatchesExamples =
    BatchesByOptions<P> || requires { requires std::same_as<decltype(P::batching(1)), Batching>; };
/// True if P chooses which tokens are shown and which are predicted.
template <class P>
concept HasObjective = requires(const typename P::Options& options, const DataTokens& tokens) {
  requires std::same_as<decltype(P::objective(options, tokens)), Objective>;
};
/// True if P chooses the figure that is shown beside the loss.
template <class P>
concept HasHeadline =
    HasObjective<P> && requires { requires std::same_as<decltype(P::headline), const Figure>; };
template <class P>
concept HasContradiction =
    requires(const typename P::Options& options) { P::contradiction(options); };
template <class P>
concept HasWhyFixed = requires(std::string_view name) {
  { P::why_fixed(name) } -> std::convertible_to<std::string_view>;
};
/// True if the optimizer P has workspace(): the bytes that the update of a parameter needs.
template <class P>
concept HasWorkspace = requires(const Layer& layer, int parameter) {
  { P::workspace(layer, parameter) } -> std::convertible_to<std::int64_t>;
};
template <class P>
concept HasCasts = requires { P::casts; };
template <class P>
concept HasByParameter = requires { P::by_parameter; };
/// True if the parallel policy P has `shards`; see ParallelPolicy.
template <class P>
concept HasShards = requires {
  { P::shards } -> std::convertible_to<int>;
};
template <class P>
concept HasAtRoot = requires {
  { P::at_root } -> std::convertible_to<bool>;
};
/// True if the parallel policy P has `owners`; see ParallelPolicy.
template <class P>
concept HasOwners = requires {
  { P::owners } -> std::convertible_to<bool>;
};
template <class P>
concept HasSplitsGradients = requires {
  { P::splits_gradients } -> std::convertible_to<bool>;
};
template <class P>
concept SplitsGradients = HasSplitsGradients<P> && P::splits_gradients;
template <class P>
concept HasSplitsWeights = requires {
  { P::splits_weights } -> std::convertible_to<bool>;
};
template <class P>
concept SplitsWeights = HasSplitsWeights<P> && P::splits_weights;
template <class P>
concept HasOffloadsState = requires {
  { P::offloads_state } -> std::convertible_to<bool>;
};
template <class P>
concept OffloadsState = HasOffloadsState<P> && P::offloads_state;
template <class P>
concept HasRewritesLast = requires {
  { P::rewrites_last } -> std::convertible_to<bool>;
};
template <class P>
concept RewritesLast = HasRewritesLast<P> && P::rewrites_last;
template <class P>
concept HasOffloadsWeights = requires {
  { P::offloads_weights } -> std::convertible_to<bool>;
};
template <class P>
concept OffloadsWeights = HasOffloadsWeights<P> && P::offloads_weights;
/// True if the precision policy P has a type for the optimizer's state.
template <class P>
concept HasStateType = requires { sizeof(typename P::state); };
template <class P>
concept HasMatmulInputs = requires { P::matmul_inputs; };
/// True if the data policy P has open(); see data/data_view.hpp.
template <class P>
concept HasOpen = requires(const DataRequest& request) { P::open(request); } ||
                  requires(const DataRequest& request) { P::open(P::options, request); };
template <class P>
concept HasTokenizer = requires { P::tokenizer(); } || requires { P::tokenizer(P::options); };
template <class P>
concept HasPrompt = requires(const Tokenizer& tokenizer, std::string_view text) {
  P::prompt(tokenizer, text);
} || requires(const Tokenizer& tokenizer, std::string_view text) {
  P::prompt(P::options, tokenizer, text);
};
template <class P>
concept HasUnit = requires { P::unit; };
template <class P>
concept HasPathsHelp = requires { P::paths_help; };
template <class P>
concept HasTakesTokenizer = requires { P::takes_tokenizer; };
template <class P>
concept HasHasExamples = requires { P::has_examples; };
/// True if the clipping policy P has limit(); see ClippingPolicy.
template <class P>
concept HasLimit = requires(const typename P::Options& options) {
  { P::limit(options) } -> std::convertible_to<double>;
};
/// True if the memory policy P has keeps_whole(); see MemoryPolicy.
template <class P>
concept KeepsWhole = requires(int copy) {
  { P::keeps_whole(copy) } -> std::convertible_to<bool>;
};
template <class P>
concept HasOffered = requires { P::offered; };
/// True if P has a note for the recipe R that follows from options.
template <class P, class R>
concept NotesOptions = requires(const typename P::Options& options, const BatchLimits& limits) {
  { P::template note<R>(options, limits) } -> std::convertible_to<std::string>;
};
/// True if P has a note for the recipe R that follows from its plan; PlanOf is the planner.
template <class P, class R, template <class> class PlanOf>
concept NotesPlan = requires {
  { P::template note<R, PlanOf>() } -> std::convertible_to<std::string>;
};

}  // namespace hook

/// A hook, with `found` true if a policy has it.
struct Hook {
  std::string_view name;  ///< the hook's name
  bool found;             ///< true if the policy has it
};

/// The number of `hooks` that are found.
constexpr std::size_t found_in(const auto& hooks) {
  return std::size_t(std::ranges::count(hooks, true, &Hook::found));
}

/// The hooks of the policy P of the recipe R that change the training step or forbid recipes. A policy
/// in a slot of its own without any of these would do nothing.
template <class P, class R>
constexpr auto acting_hooks() {
  return std::array{Hook{"regions", hook::HasRegions<P>},
                    Hook{"rules", hook::HasRules<P>},
                    Hook{"model_rules", hook::HasModelRules<P>},
                    Hook{"frozen", hook::HasFrozen<P>},
                    Hook{"parameter_groups", hook::HasParameterGroups<P>},
                    Hook{"row_multiple", hook::HasRowMultiple<P>},
                    Hook{"rewrite", hook::RewritesOf<P, R> || hook::RewritesAny<P>},
                    Hook{"rewrite_forward", hook::RewritesForward<P>},
                    Hook{"rate_factor", hook::HasRateFactor<P> || hook::HasStateRateFactor<P>},
                    Hook{"loss_scale", hook::HasLossScale<P>},
                    Hook{"after_step", hook::ActsAfterStep<P>},
                    Hook{"recover", hook::Recovers<P>},
                    Hook{"after_evaluation", hook::ActsAfterEvaluation<P>},
                    Hook{"next_batch", hook::ShapesBatches<P>},
                    Hook{"batching", hook::BatchesExamples<P>},
                    Hook{"objective", hook::HasObjective<P>}};
}

/// All hooks that acting_hooks() does not list: hooks that assist those or describe the policy, and
/// optional members of Sinter's slots. PlanOf is the planner.
template <class P, class R, template <class> class PlanOf>
constexpr auto other_hooks() {
  using Slot = typename P::slot;
  constexpr bool optimizer = std::same_as<Slot, slot::optimizer>,
                 precision = std::same_as<Slot, slot::precision>,
                 parallel = std::same_as<Slot, slot::parallel>,
                 data = std::same_as<Slot, slot::data>;
  return std::array{Hook{"initial", hook::HasInitial<P>},
                    Hook{"headline", hook::HasHeadline<P>},
                    Hook{"contradiction", hook::HasContradiction<P>},
                    Hook{"why_fixed", hook::HasWhyFixed<P>},
                    Hook{"offered", hook::HasOffered<P>},
                    Hook{"note", hook::NotesOptions<P, R> || hook::NotesPlan<P, R, PlanOf>},
                    Hook{"casts", optimizer && hook::HasCasts<P>},
                    Hook{"by_parameter", optimizer && hook::HasByParameter<P>},
                    Hook{"workspace", optimizer && hook::HasWorkspace<P>},
                    Hook{"limit", std::same_as<Slot, slot::clipping> && hook::HasLimit<P>},
                    Hook{"keeps_whole", std::same_as<Slot, slot::memory> && hook::KeepsWhole<P>},
                    Hook{"shards", parallel && hook::HasShards<P>},
                    Hook{"splits_gradients", parallel && hook::HasSplitsGradients<P>},
                    Hook{"splits_weights", parallel && hook::HasSplitsWeights<P>},
                    Hook{"at_root", parallel && hook::HasAtRoot<P>},
                    Hook{"owners", parallel && hook::HasOwners<P>},
                    Hook{"by_shards", hook::WorksOnShards<P>},
                    Hook{"offloads_state", hook::HasOffloadsState<P>},
                    Hook{"offloads_weights", hook::HasOffloadsWeights<P>},
                    Hook{"rewrites_last", hook::HasRewritesLast<P>},
                    Hook{"state", precision && hook::HasStateType<P>},
                    Hook{"matmul_inputs", precision && hook::HasMatmulInputs<P>},
                    Hook{"open", data && hook::HasOpen<P>},
                    Hook{"tokenizer", data && hook::HasTokenizer<P>},
                    Hook{"prompt", data && hook::HasPrompt<P>},
                    Hook{"unit", data && hook::HasUnit<P>},
                    Hook{"paths_help", data && hook::HasPathsHelp<P>},
                    Hook{"takes_tokenizer", data && hook::HasTakesTokenizer<P>},
                    Hook{"has_examples", data && hook::HasHasExamples<P>}};
}
}  // namespace detail

}  // namespace sinter
