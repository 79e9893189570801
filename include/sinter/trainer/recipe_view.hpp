// SPDX-License-Identifier: Apache-2.0
// A recipe without its type, as the library trains it.
#pragma once
#include <span>

#include "sinter/base/type_name.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"
#include "sinter/data/batch_shape.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/objective.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/recipe/alternatives.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/trainer/run_state.hpp"

namespace sinter {

/// A recipe with its type erased.
struct RecipeView {
  std::string name;                   ///< name of the recipe's type
  std::vector<std::string> policies;  ///< "slot: type", including defaults
  /// The hooks (policy/hooks.hpp) of each of `policies`, in the same order.
  std::vector<std::span<const std::string_view>> hooks;
  /// Names of slots that are not decisive (slots.hpp).
  std::vector<std::string_view> free_slots;
  const PlanView* plan = nullptr;         ///< a constant of the program
  std::shared_ptr<void> storage;          ///< owns the options and the run state
  std::vector<Option> options;            ///< of all policies, field by field
  std::vector<OptionsOf> policy_options;  ///< the same options, as whole structs, by slot
  std::vector<ParameterGroup> groups;     ///< a parameter is in the first group that matches
  RunState state;                         ///< of all policies
  /// The learning rate of a step.
  struct Rate {
    double learning_rate;  ///< including all factors
    double factor;         ///< the product of all factors but the optimizer's rate
  };
  /// Returns the rate of a step whose global batch has `sequences` sequences.
  BoundFunction<Rate(std::int64_t step, int sequences)> rate;
  /// Lets the calling thread compute on the device (DevicePolicy).
  /// throws    Error if the device is missing
  BoundFunction<void()> open_device;
  bool on_host = true;         ///< true if the device is the processor
  BoundFunction<int()> ranks;  ///< number of ranks
  /// Makes the communicator of a rank that is a process; null if ranks cannot be processes.
  std::unique_ptr<Communicator> (*join_world)(kernel::Stream&, const World&) = nullptr;
  BoundFunction<int()> global;  ///< number of sequences of the global batch
  /// Returns the learning rate of a step with a whole global batch.
  double learning_rate(std::int64_t step) const { return rate(step, global()).learning_rate; }
  /// The shapes of batches, for the data source; empty unless policies change them in the course of
  /// training.
  BatchShapes batch_shapes;
  /// Checks the options of the policies that change batches.
  /// throws    ArgumentError if they contradict each other
  BoundFunction<void()> check_batches;
  /// A policy whose options may contradict each other.
  struct Combination {
    std::string_view slot;
    BoundFunction<Contradiction()> contradiction;
  };
  std::vector<Combination> combinations;  ///< all policies that may have such options
  HuggingFace hugging_face;               ///< empty if Hugging Face does not have the architecture
  DataView data;                          ///< what the data policy offers to the verbs of a binary
  std::vector<BoundFunction<std::string()>> notes;       ///< lines in which policies report choices
  std::vector<Alternative> (*alternatives)() = nullptr;  // those that the rules allow
};

/// Checks that numbers are in their policies' ranges and do not contradict each other. A trainer's
/// constructor does the same.
/// throws    ArgumentError that names the option, its value and what is allowed
void check_options(const RecipeView& recipe);

namespace detail {

std::vector<ParameterGroup> groups_of(auto policies) {
  std::vector<ParameterGroup> groups;
  for_each_policy(policies, [&]<hook::HasParameterGroups P>(P*) {
    groups.insert(groups.end(), P::parameter_groups.begin(), P::parameter_groups.end());
  });
  return groups;
}

template <class Optimizer>
double optimizer_rate(const typename Optimizer::Options& options, std::int64_t step) {
  if constexpr (requires { Optimizer::learning_rate(options, step); }) {
    return Optimizer::learning_rate(options, step);
  } else {
    return Optimizer::learning_rate(options);
  }
}

/// Returns the schedule's factor of the rate.
template <class R>
double schedule_factor(Held<R>& held, std::int64_t step) {
  using P = typename R::schedule;
  if constexpr (requires { typename P::State; }) {
    return P::factor(held.options.template get<P>(), held.states.template get<P>(), step);
  } else {
    return P::factor(held.options.template get<P>(), step);
  }
}

template <class R>
BatchLimits batch_limits(OptionSet<R>& options) {
  const int ranks = R::parallel::ranks(options.template get<typename R::parallel>());
  return {options.template get<typename R::batch>().global, R::data::context,
          Plan<R>::view.micro * ranks};
}

/// The functions of a RecipeView, which take the Held of the recipe R.
template <class R>
struct ViewFunctions {
  static OptionSet<R>& options(void* held) { return static_cast<Held<R>*>(held)->options; }

  static void open_device(void* held) {
    R::device::open(options(held).template get<typename R::device>());
  }
  static int ranks(void* held) {
    return R::parallel::ranks(options(held).template get<typename R::parallel>());
  }
  static int global(void* held) { return options(held).template get<typename R::batch>().global; }

  static RecipeView::Rate rate(void* in, std::int64_t step, int sequences) {
    Held<R>& held = *static_cast<Held<R>*>(in);
    double factor = schedule_factor(held, step);
    for_each_policy(typename R::all{}, [&]<hook::HasStateRateFactor P>(P*) {
      factor *=
          P::rate_factor(held.options.template get<P>(), held.states.template get<P>(), sequences);
    });
    for_each_policy(typename R::all{}, [&]<hook::HasRateFactor P>(P*) {
      factor *= P::rate_factor(held.options.template get<P>(), sequences);
    });
    using Optimizer = typename R::optimizer;
    return {factor * optimizer_rate<Optimizer>(held.options.template get<Optimizer>(), step),
            factor};
  }

  static void check_batches(void* held) {
    for_each_policy(typename R::all{}, [&]<hook::ShapesBatches P>(P*) {
      P::check_batch(options(held).template get<P>(), batch_limits<R>(options(held)));
    });
  }
  /// Lets each policy that shapes batches change its part of their shape.
  static BatchShape batch_shape(OptionSet<R>& options, std::uint64_t sequences) {
    const BatchLimits limits = batch_limits<R>(options);
    BatchShape shape{limits.sequences, limits.length};
    for_each_policy(typename R::all{}, [&]<hook::ShapesBatches P>(P*) {
      P::next_batch(options.template get<P>(), limits, sequences, shape);
    });
    return shape;
  }

  template <class P>
  static Contradiction contradiction(void* held) {
    return P::contradiction(options(held).template get<P>());
  }
  template <class P>
  static std::string note(void* held) {
    return P::template note<R>(options(held).template get<P>(), batch_limits<R>(options(held)));
  }
  template <class P>
  static std::string note_of_plan(void*) {
    return P::template note<R, PlanAsIs>();
  }
};

template <class R>
void add_batch_shapes(std::shared_ptr<Held<R>> held, RecipeView& view) {
  for_each_policy(typename R::all{}, [&]<hook::ShapesBatches P>(P*) {
    view.check_batches = {held.get(), ViewFunctions<R>::check_batches};
    view.batch_shapes = [held](std::uint64_t sequences) {
      return ViewFunctions<R>::batch_shape(held->options, sequences);
    };
  });
}

/// Adds the lines in which policies report their choices, from note<R>(options, limits), or, with
/// the planner, from note<R, PlanOf>().
template <class R>
void add_notes(Held<R>& held, RecipeView& view) {
  using Functions = ViewFunctions<R>;
  for_each_policy(typename R::all{}, [&]<class P>(P*)
                    requires hook::NotesOptions<P, R>
                  { view.notes.emplace_back(&held, Functions::template note<P>); });
  for_each_policy(typename R::all{}, [&]<class P>(P*)
                    requires hook::NotesPlan<P, R, PlanAsIs>
                  { view.notes.emplace_back(&held, Functions::template note_of_plan<P>); });
}

/// Lets each policy with an objective prepare the batches of opened data.
template <class R>
void add_objectives(OptionSet<R>& options, OpenedData& opened) {
  for_each_policy(typename R::all{}, [&]<hook::HasObjective P>(P*) {
    std::vector<SpecialToken> special;
    if (opened.special) special = opened.special();
    prepare_batches(opened,
                    P::objective(options.template get<P>(), {R::data::vocabulary, special}));
  });
}

/// Returns what the data policy offers. Its functions use the options at the time of the call.
template <class R>
DataView data_view_of(std::shared_ptr<Held<R>> held) {
  using P = typename R::data;
  DataView view;
  if constexpr (P::vocabulary > 0) view.unit = token_unit;
  if constexpr (requires { P::unit; }) view.unit = P::unit;
  for_each_policy(typename R::all{},
                  [&]<hook::HasHeadline O>(O*) { view.unit.headline = O::headline; });
  if constexpr (requires { P::paths_help; }) view.paths_help = P::paths_help;
  if constexpr (requires { P::takes_tokenizer; }) view.takes_tokenizer = P::takes_tokenizer;
  if constexpr (hook::HasOpen<P>) {
    view.open = [held](const DataRequest& request) {
      OpenedData opened = [&] {
        if constexpr (requires { P::open(request); })
          return P::open(request);
        else
          return P::open(held->options.template get<P>(), request);
      }();
      add_objectives<R>(held->options, opened);
      return opened;
    };
  }
  if constexpr (requires { P::tokenizer(); }) {
    view.tokenizer = [] { return P::tokenizer(); };
  } else if constexpr (requires { P::tokenizer(P::options); }) {
    view.tokenizer = [held] { return P::tokenizer(held->options.template get<P>()); };
  }
  if constexpr (requires(const Tokenizer& t, std::string_view text) { P::prompt(t, text); }) {
    view.prompt = [](const Tokenizer& t, std::string_view text) { return P::prompt(t, text); };
  } else if constexpr (requires(const Tokenizer& t, std::string_view text) {
                         P::prompt(P::options, t, text);
                       }) {
    view.prompt = [held](const Tokenizer& t, std::string_view text) {
      return P::prompt(held->options.template get<P>(), t, text);
    };
  }
  for_each_policy(typename R::all{}, [&]<hook::BatchesExamples B>(B*) {
    view.batching = [held](int sequences) {
      if constexpr (hook::BatchesByOptions<B>)
        return B::batching(held->options.template get<B>(), sequences);
      else
        return B::batching(sequences);
    };
  });
  return view;
}

/// Returns the slot and name of a policy. One without options may add its text().
template <class P>
std::string policy_name() {
  std::string name = std::string(P::slot::name) + ": " + short_type_name<P>();
  if constexpr (requires { P::text(); }) name.append("<").append(P::text()).append(">");
  return name;
}
template <class... All>
std::vector<std::string> policy_names(PolicyList<All...>) {
  return {policy_name<All>()...};
}
/// The names of the hooks that the policy P of the recipe R has.
template <class P, class R>
inline constexpr auto hooks_found = [] {
  constexpr auto acting = acting_hooks<P, R>();
  constexpr auto other = other_hooks<P, R, PlanAsIs>();
  std::array<std::string_view, found_in(acting) + found_in(other)> names{};
  std::size_t count = 0;
  for (const Hook& hook : acting)
    if (hook.found) names[count++] = hook.name;
  for (const Hook& hook : other)
    if (hook.found) names[count++] = hook.name;
  return names;
}();
template <class R, class... All>
std::vector<std::span<const std::string_view>> hooks_found_in(PolicyList<All...>) {
  return {hooks_found<All, R>...};
}
template <class... All>
std::vector<std::string_view> free_slots(PolicyList<All...>) {
  std::vector<std::string_view> names;
  ((is_decisive<typename All::slot>() ? void() : names.push_back(All::slot::name)), ...);
  return names;
}

}  // namespace detail

/// Returns the view of the recipe R, with the options of its type.
/// requires  R is ready()
template <class R>
RecipeView view_of() {
  detail::require_device_of_this_build<R>();
  const auto held = std::make_shared<Held<R>>();
  using Functions = detail::ViewFunctions<R>;
  RecipeView view;
  view.name = detail::short_type_name<R>();
  view.policies = detail::policy_names(typename R::all{});
  view.hooks = detail::hooks_found_in<R>(typename R::all{});
  view.free_slots = detail::free_slots(typename R::all{});
  view.plan = &Plan<R>::view;
  view.storage = held;
  view.options = held->options.list();
  view.policy_options = held->options.pointers();
  view.groups = detail::groups_of(typename R::all{});
  view.state = run_state_of<R>(*held);
  view.open_device = {held.get(), Functions::open_device};
  view.on_host = R::device::on_host;
  if constexpr (R::parallel::reduces && (!R::device::on_host || requires { R::device::join; }))
    view.join_world = R::device::join;
  view.ranks = {held.get(), Functions::ranks};
  view.global = {held.get(), Functions::global};
  view.rate = {held.get(), Functions::rate};
  detail::add_batch_shapes<R>(held, view);
  for_each_policy(typename R::all{}, [&]<hook::HasContradiction P>(P*) {
    view.combinations.push_back(
        {P::slot::name, {held.get(), Functions::template contradiction<P>}});
  });
  if constexpr (requires { R::model::template hugging_face<R>(); })
    view.hugging_face = R::model::template hugging_face<R>();
  detail::add_notes<R>(*held, view);
  view.alternatives = alternatives_of<R>;
  view.data = detail::data_view_of<R>(held);
  return view;
}

}  // namespace sinter
