// SPDX-License-Identifier: Apache-2.0
// What policies carry from step to step beside the weights, such as a loss scale or the best loss.
#pragma once
#include <functional>
#include <memory>

#include "sinter/error.hpp"
#include "sinter/recipe/options.hpp"
#include "sinter/recovery/reaction.hpp"
#include "sinter/run/step_figures.hpp"

namespace sinter {

/// The run state of all policies of a recipe, and functions that tell these what happens.
/// Checkpoints hold it. What a policy may do is in recipe/hooks.hpp.
struct RunState {
  std::shared_ptr<void> storage;  ///< of the fields
  std::vector<Option> fields;     ///< of all policies; they point into storage
  std::vector<OptionsOf> states;  ///< where they lie, by slot, for instructions
  /// Gives what the gradients of the next step are multiplied by.
  std::function<double()> loss_scale;
  /// Gives the factor of the learning rate that the schedule, and policies with a run state, make of
  /// a step whose batch has so many sequences.
  std::function<double(std::int64_t step, int sequences)> rate_factor;
  /// Tells of a step. Returns what to do with one that was not applied.
  /// throws    Error if a policy says that training cannot go on
  std::function<Reaction(const StepFigures& step)> after_step;
  /// The slot of the policy that says so; empty if none does, and training stops.
  std::string_view recovers{};
  /// Tells of a validation loss.
  std::function<void(double loss)> after_evaluation;
  /// The slot of a policy that acts on validation losses; empty if none does.
  std::string_view acts_on_evaluations{};
  /// Goes back to the start, with the options as they are now.
  std::function<void()> reset;
};

namespace detail {

template <class P, class Options, class State>
double rate_factor(const Options& options, const State& states, std::int64_t step) {
  if constexpr (requires { typename P::State; }) {
    return P::factor(options->template get<P>(), states->template get<P>(), step);
  } else {
    return P::factor(options->template get<P>(), step);
  }
}

/// Tells the policies of a step. Returns whether one of them has dealt with it, if it was not
/// applied.
bool tell_of_step(auto& options, auto& states, const StepFigures& step) {
  bool dealt_with = false;
  states.visit([&]<class P>(P, auto& state) {
    if constexpr (hook::ActsAfterFinite<P>)
      dealt_with |=
          P::after_step(options.template get<P>(), state, step.finite()) && !step.finite();
    else if constexpr (hook::ActsAfterFigures<P>)
      dealt_with |= P::after_step(options.template get<P>(), state, step);
  });
  return dealt_with && !step.applied;
}

/// Asks the policy that recovers, if there is one.
Reaction ask_to_recover(auto& options, auto& states, const StepFigures& step) {
  Reaction reaction = Reaction::stop;
  states.visit([&]<class P>(P, auto& state) {
    if constexpr (hook::Recovers<P>) reaction = P::recover(options.template get<P>(), state, step);
  });
  return reaction;
}

/// A loss scale expects steps that are not finite, and deals with them; where it cannot any more, it
/// says that training diverges, and the policy that recovers has the last word.
Reaction after_step(auto& options, auto& states, const StepFigures& step) {
  try {
    if (tell_of_step(options, states, step)) return Reaction::skip;
  } catch (const DivergedError&) {
    const Reaction reaction = ask_to_recover(options, states, step);
    if (reaction == Reaction::stop) throw;
    return reaction;
  }
  return ask_to_recover(options, states, step);
}

}  // namespace detail

/// The run state of the recipe R.
/// ensures   it may be used once reset() has been called
template <class R>
RunState run_state_of(std::shared_ptr<OptionSet<R>> options) {
  auto states = std::make_shared<StateSet<R>>();
  RunState run;
  run.storage = states;
  run.fields = states->list();
  run.states = states->pointers();
  run.loss_scale = [states] {
    double scale = 1;
    states->visit([&]<class P>(P, const auto& state) {
      if constexpr (hook::HasLossScale<P>) scale *= P::loss_scale(state);
    });
    return scale;
  };
  run.rate_factor = [options, states](std::int64_t step, int sequences) {
    double factor = detail::rate_factor<typename R::schedule>(options, states, step);
    states->visit([&]<class P>(P, const auto& state) {
      if constexpr (hook::HasStateRateFactor<P>)
        factor *= P::rate_factor(options->template get<P>(), state, sequences);
    });
    return factor;
  };
  run.after_step = [options, states](const StepFigures& step) {
    return detail::after_step(*options, *states, step);
  };
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (hook::ActsAfterEvaluation<P>) run.acts_on_evaluations = P::slot::name;
    if constexpr (hook::Recovers<P>) run.recovers = P::slot::name;
  });
  run.after_evaluation = [options, states](double loss) {
    states->visit([&]<class P>(P, auto& state) {
      if constexpr (hook::ActsAfterEvaluation<P>)
        P::after_evaluation(options->template get<P>(), state, loss);
    });
  };
  run.reset = [options, states] {
    states->visit([&]<class P>(P, auto& state) {
      state = {};
      if constexpr (hook::HasInitial<P>) state = P::initial(options->template get<P>());
    });
  };
  return run;
}

}  // namespace sinter
