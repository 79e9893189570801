// SPDX-License-Identifier: Apache-2.0
// State of policies that changes from step to step, such as a loss scale or the best loss.
#pragma once
#include "sinter/base/bound_function.hpp"
#include "sinter/error.hpp"
#include "sinter/policy/options.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

/// The run state of all policies of a recipe, and functions that pass events to them. Checkpoints
/// hold it. The hooks of a policy are in policy/hooks.hpp.
struct RunState {
  std::vector<Option> fields;     ///< of all policies
  std::vector<OptionsOf> states;  ///< their addresses, by slot, for instructions
  /// Returns the factor that the gradients of the next step are multiplied by.
  BoundFunction<double()> loss_scale;
  /// Passes a step to the policies. Returns how to react if the step was not applied.
  /// throws    Error if a policy ends the training
  BoundFunction<Reaction(const StepFigures& step)> after_step;
  /// The slot of the policy that decides on the reaction; if empty, training stops.
  std::string_view recovers{};
  /// Passes a validation loss to the policies.
  BoundFunction<void(double loss)> after_evaluation;
  /// The slot of a policy that acts on validation losses; empty if none does.
  std::string_view acts_on_evaluations{};
  /// Restores the initial run state, for the current options.
  BoundFunction<void()> reset;
};

/// Options and run state of the policies of the recipe R.
template <class R>
struct Held {
  OptionSet<R> options;  ///< may be changed before a trainer is made
  StateSet<R> states;    ///< changes from step to step
};

namespace detail {

/// The functions of a RunState, which take the Held of the recipe R.
template <class R>
struct StateFunctions {
  using In = Held<R>;

  static double loss_scale(void* held) {
    double scale = 1;
    static_cast<In*>(held)->states.visit(
        [&]<hook::HasLossScale P>(P, auto& state) { scale *= P::loss_scale(state); });
    return scale;
  }

  /// Passes a step to the policies. Returns true if the step was not applied and one of them has
  /// dealt with that.
  static bool tell_of_step(In& in, const StepFigures& step) {
    bool dealt_with = false;
    in.states.visit([&]<hook::ActsAfterStep P>(P, auto& state) {
      auto& options = in.options.template get<P>();
      if constexpr (hook::ActsAfterFinite<P>)
        dealt_with |= P::after_step(options, state, step.finite()) && !step.finite();
      else
        dealt_with |= P::after_step(options, state, step);
    });
    return dealt_with && !step.applied;
  }
  /// Asks the policy that recovers, if there is one.
  static Reaction ask_to_recover(In& in, const StepFigures& step) {
    Reaction reaction = Reaction::stop;
    in.states.visit([&]<hook::Recovers P>(P, auto& state) {
      reaction = P::recover(in.options.template get<P>(), state, step);
    });
    return reaction;
  }
  /// A loss scale expects non-finite steps, and deals with them. If it no longer can, it throws that
  /// training diverges, and the policy that recovers decides.
  static Reaction after_step(void* held, const StepFigures& step) {
    In& in = *static_cast<In*>(held);
    try {
      if (tell_of_step(in, step)) return Reaction::skip;
    } catch (const DivergedError&) {
      const Reaction reaction = ask_to_recover(in, step);
      if (reaction == Reaction::stop) throw;
      return reaction;
    }
    return ask_to_recover(in, step);
  }

  static void after_evaluation(void* held, double loss) {
    In& in = *static_cast<In*>(held);
    in.states.visit([&]<hook::ActsAfterEvaluation P>(P, auto& state) {
      P::after_evaluation(in.options.template get<P>(), state, loss);
    });
  }

  static void reset(void* held) {
    In& in = *static_cast<In*>(held);
    in.states.visit([&]<class P>(P, auto& state) {
      state = {};
      if constexpr (hook::HasInitial<P>) state = P::initial(in.options.template get<P>());
    });
  }
};

}  // namespace detail

/// Returns the run state of the recipe R.
/// ensures   it may be used after reset() has been called, while `held` lives
template <class R>
RunState run_state_of(Held<R>& held) {
  using Functions = detail::StateFunctions<R>;
  RunState run{.fields = held.states.list(),
               .states = held.states.pointers(),
               .loss_scale = {&held, Functions::loss_scale},
               .after_step = {&held, Functions::after_step},
               .after_evaluation = {&held, Functions::after_evaluation},
               .reset = {&held, Functions::reset}};
  for_each_policy(typename R::all{}, [&]<hook::ActsAfterEvaluation P>(P*) {
    run.acts_on_evaluations = P::slot::name;
  });
  for_each_policy(typename R::all{}, [&]<hook::Recovers P>(P*) { run.recovers = P::slot::name; });
  return run;
}

}  // namespace sinter
