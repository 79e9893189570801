// SPDX-License-Identifier: Apache-2.0
// What policies carry from step to step beside the weights, such as a loss scale or the best loss.
#pragma once
#include <functional>
#include <memory>

#include "sinter/recipe/options.hpp"

namespace sinter {

/// The run state of all policies of a recipe, and functions that tell these what happens.
/// Checkpoints hold it. What a policy may do is in recipe/hooks.hpp.
struct RunState {
  std::shared_ptr<void> storage;  ///< of the fields
  std::vector<Option> fields;     ///< of all policies; they point into storage
  /// Gives what the gradients of the next step are multiplied by.
  std::function<double()> loss_scale;
  /// Gives the schedule's factor of the learning rate at a step.
  std::function<double(std::int64_t step)> rate_factor;
  /// Tells of a step, which was applied if it was finite. Returns whether a policy has dealt with
  /// one that was not.
  /// throws    Error if a policy says that training cannot go on
  std::function<bool(bool finite)> after_step;
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

}  // namespace detail

/// The run state of the recipe R.
/// ensures   it may be used once reset() has been called
template <class R>
RunState run_state_of(std::shared_ptr<OptionSet<R>> options) {
  auto states = std::make_shared<StateSet<R>>();
  RunState run;
  run.storage = states;
  run.fields = states->list();
  run.loss_scale = [states] {
    double scale = 1;
    states->visit([&]<class P>(P, const auto& state) {
      if constexpr (hook::HasLossScale<P>) scale *= P::loss_scale(state);
    });
    return scale;
  };
  run.rate_factor = [options, states](std::int64_t step) {
    return detail::rate_factor<typename R::schedule>(options, states, step);
  };
  run.after_step = [options, states](bool finite) {
    bool dealt_with = false;
    states->visit([&]<class P>(P, auto& state) {
      if constexpr (hook::ActsAfterStep<P>)
        dealt_with |= P::after_step(options->template get<P>(), state, finite);
    });
    return dealt_with;
  };
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (hook::ActsAfterEvaluation<P>) run.acts_on_evaluations = P::slot::name;
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
