// SPDX-License-Identifier: Apache-2.0
// The functions of RecipeView for a recipe's type.
#pragma once
#include <algorithm>
#include <variant>

#include "sinter/base/type_name.hpp"
#include "sinter/batch/sample.hpp"
#include "sinter/data/objective.hpp"
#include "sinter/error.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/class_targets.hpp"
#include "sinter/policy/policy_facts.hpp"
#include "sinter/recipe/alternatives.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

std::vector<ParameterGroup> groups_of(auto policies) {
  std::vector<ParameterGroup> groups;
  for_each_policy(policies, [&]<hook::HasParameterGroups P>(P*) {
    groups.insert(groups.end(), P::parameter_groups.begin(), P::parameter_groups.end());
  });
  return groups;
}

/// Returns the slot and name of a policy. A policy without options may add its text().
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
/// Returns the names of the hooks that the policy P of the recipe R has.
template <class P, class R>
inline constexpr auto hooks_found = [] {
  constexpr auto hooks = hooks_among<P, R>(HooksFor<P>{});
  std::array<std::string_view, std::size_t(std::ranges::count(hooks, true, &Hook::found))> names{};
  std::size_t count = 0;
  for (const Hook& hook : hooks)
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

/// The recipe R as a RecipeView, with the options of its type.
/// requires  R is ready()
template <class R>
class RecipeOf : public RecipeView {
  using All = typename R::all;
  using Data = typename R::data;
  static constexpr bool joins =
      R::parallel::reduces && (!R::device::on_host || requires { R::device::join; });
  static constexpr bool changes = []<class... P>(PolicyList<P...>) {
    return (hook::ShapesBatches<P> || ...);
  }(All{});
  OptionSet<R> options_;  // may be changed before a trainer is made
  StateSet<R> states_;    // changes from step to step

  /// The options of P; an empty object if it has none.
  template <class P>
  const auto& of() const {
    if constexpr (HasOptions<P>) {
      return options_.template get<P>();
    } else {
      static constexpr std::monostate none;
      return none;
    }
  }
  /// The run state of P; an empty object if it has none.
  template <class P>
  const auto& state_of() const {
    if constexpr (HasState<P>) {
      return states_.template get<P>();
    } else {
      static constexpr std::monostate none;
      return none;
    }
  }
  BatchLimits limits() const {
    return {global_batch(), Data::context, Plan<R>::view.micro * ranks()};
  }

  /// Passes a step to the policies. Returns true if the step was not applied and a policy has
  /// handled that.
  bool pass_step(const StepFigures& step) {
    bool dealt_with = false;
    states_.visit([&]<hook::ActsAfterStep P>(P, auto& state) {
      dealt_with |= hook::after_step<P>(of<P>(), state, step);
    });
    return dealt_with && !step.applied;
  }
  /// Asks the policy that recovers, if there is one.
  Reaction ask_to_recover(const StepFigures& step) {
    Reaction reaction = Reaction::stop;
    states_.visit(
        [&]<hook::Recovers P>(P, auto& state) { reaction = P::recover(of<P>(), state, step); });
    return reaction;
  }

  void set_constants() {
    name = short_type_name<R>();
    policies = policy_names(All{});
    hooks = hooks_found_in<R>(All{});
    free_slots = detail::free_slots(All{});
    plan = &Plan<R>::view;
    groups = groups_of(All{});
    for_each_policy(All{}, [&]<hook::HasAdapter P>(P*) { lora = P::options; });
    if constexpr (requires { R::model::template hugging_face<R>(); })
      hugging_face = R::model::template hugging_face<R>();
    on_host = R::device::on_host;
    joins_worlds = joins;
    changes_batches = changes;
    chooses_predictions = has_objective<R>();
    sampling = sampling_of<R>();
    for_each_policy(All{}, [&]<hook::Recovers P>(P*) { recovers = P::slot::name; });
    for_each_policy(All{},
                    [&]<hook::ActsAfterEvaluation P>(P*) { acts_on_evaluations = P::slot::name; });
    for_each_policy(All{}, [&]<hook::ActsAfterWatched P>(P*) {
      acts_on_evaluations = P::slot::name;
      watches = P::watches == "loss" ? "" : P::watches;
    });
    for_each_policy(All{}, [&]<hook::WeighsClasses P>(P*) { class_weights = P::class_weights; });
  }
  void set_metrics() {
    constexpr bool predicts = !Plan<R>::predicting.results.empty();
    for_each_policy(All{}, [&]<hook::HasMetrics P>(P*) {
      constexpr bool are_of_rows = std::ranges::any_of(P::metrics, &Metric::is_of_rows);
      static_assert(predicts || !are_of_rows,
                    "Sinter: Metrics: the model has no predict(). Why: metrics compare what it "
                    "predicts with the classes of the data. Fix: give the model a predict(), which "
                    "results in logits of classes (docs/add_a_model.md), or leave Metrics out.");
      metrics = P::metrics;
    });
    static constexpr std::array usual{metric_of<Accuracy>()};
    if (metrics.empty() && predicts && class_targets(plan->model)) metrics = usual;
  }
  static constexpr void check_writing() {
    if constexpr (writes_replies<R>())
      static_assert(
          writes_tokens(Plan<R>::predicting, Data::vocabulary),
          "Sinter: Evaluate: the model has no predict() of what follows a text. Why: replies are "
          "written token by token, by the logits of the next one. Fix: give the model a predict() "
          "with a logit of each token for the last row of each sequence (docs/add_a_model.md), or "
          "leave Evaluate and the metrics of texts out.");
  }
  void set_data_facts() {
    if constexpr (Data::vocabulary > 0) data.unit = token_unit;
    if constexpr (hook::HasUnit<Data>) data.unit = Data::unit;
    for_each_policy(All{}, [&]<hook::HasHeadline P>(P*) { data.unit.headline = P::headline; });
    data.paths_help = hook::paths_help<Data>;
    data.takes_tokenizer = hook::takes_tokenizer<Data>;
    data.reads_text = hook::reads_text<Data>;
    data.class_names = hook::class_names<Data>;
    data.opens = hook::HasOpen<Data>;
    data.has_tokenizer = hook::HasTokenizer<Data>;
  }

 public:
  RecipeOf() {
    require_device_of_this_build<R>();
    set_constants();
    set_metrics();
    check_writing();
    set_data_facts();
    options = options_.list();
    policy_options = options_.pointers();
    run_state = states_.list();
    policy_states = states_.pointers();
  }

  void reset_state() override {
    states_.visit([&]<class P>(P, auto& state) { state = hook::initial<P>(of<P>()); });
  }
  void check_batches() const override {
    for_each_policy(All{}, [&]<hook::ShapesBatches P>(P*) { P::check_batch(of<P>(), limits()); });
  }
  std::vector<Combination> combinations(std::int64_t steps) const override {
    std::vector<Combination> list;
    for_each_policy(All{}, [&]<hook::HasContradiction P>(P*) {
      list.push_back({P::slot::name, P::contradiction(hook::in_run<P>(of<P>(), steps))});
    });
    return list;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> list;
    for_each_policy(All{}, [&]<class P>(P*)
                      requires hook::NotesOptions<P, R>
                    { list.push_back(P::template note<R>(of<P>(), limits())); });
    for_each_policy(All{}, [&]<class P>(P*)
                      requires hook::NotesPlan<P, R>
                    { list.push_back(P::template note<R, PlanAsIs>()); });
    return list;
  }
  std::vector<Alternative> alternatives() const override { return alternatives_of<R>(); }

  int ranks() const override { return R::parallel::ranks(of<typename R::parallel>()); }
  void open_device() const override { R::device::open(of<typename R::device>()); }
  std::unique_ptr<Communicator> join_world([[maybe_unused]] kernel::Stream& stream,
                                           [[maybe_unused]] const World& world) const override {
    if constexpr (joins) return R::device::join(stream, world);
    return nullptr;
  }

  int global_batch() const override { return of<typename R::batch>().global; }
  BatchShapes batch_shapes() const override {
    if constexpr (changes) {
      return [set = options_, limit = limits()](std::uint64_t sequences) {
        BatchShape shape{limit.sequences, limit.length};
        for_each_policy(All{}, [&]<hook::ShapesBatches P>(P*) {
          P::next_batch(set.template get<P>(), limit, sequences, shape);
        });
        return shape;
      };
    }
    return {};
  }
  std::optional<std::int64_t> stated_horizon() const override {
    using P = typename R::schedule;
    return hook::stated_horizon<P>(of<P>());
  }
  double schedule_factor(std::int64_t step) const override {
    using P = typename R::schedule;
    return hook::factor<P>(hook::in_run<P>(of<P>(), run_steps), state_of<P>(), step);
  }
  Rate rate(std::int64_t step, int sequences) const override {
    double factor = schedule_factor(step);
    for_each_policy(All{}, [&]<hook::HasStateRateFactor P>(P*) {
      factor *= P::rate_factor(of<P>(), state_of<P>(), sequences);
    });
    for_each_policy(
        All{}, [&]<hook::HasRateFactor P>(P*) { factor *= P::rate_factor(of<P>(), sequences); });
    using Optimizer = typename R::optimizer;
    return {factor * hook::learning_rate<Optimizer>(of<Optimizer>(), step), factor};
  }
  double loss_scale() const override {
    double scale = 1;
    for_each_policy(All{},
                    [&]<hook::HasLossScale P>(P*) { scale *= P::loss_scale(state_of<P>()); });
    return scale;
  }
  /// Passes a step to the policies. A loss scale expects non-finite steps and handles them. If it
  /// no longer can, it throws that training diverges, and the policy that recovers decides.
  Reaction after_step(const StepFigures& step) override {
    try {
      if (pass_step(step)) return Reaction::skip;
    } catch (const DivergedError&) {
      const Reaction reaction = ask_to_recover(step);
      if (reaction == Reaction::stop) throw;
      return reaction;
    }
    return ask_to_recover(step);
  }
  double label_smoothing() const override {
    double factor = 0;
    for_each_policy(All{},
                    [&]<hook::SmoothsLabels P>(P*) { factor = P::label_smoothing(of<P>()); });
    return factor;
  }
  void after_evaluation(double loss, std::span<const MetricValue> found) override {
    states_.visit([&]<hook::ActsAfterEvaluation P>(P, auto& state) {
      P::after_evaluation(of<P>(), state, loss);
    });
    states_.visit([&]<hook::ActsAfterWatched P>(P, auto& state) {
      P::after_evaluation(of<P>(), state, figure_of(*this, P::watches, loss, found));
    });
  }

  std::optional<EarlyStopping> early_stop() const override {
    std::optional<EarlyStopping> found;
    for_each_policy(All{}, [&]<hook::StopsEarly P>(P*) { found = P::early_stop(of<P>()); });
    return found;
  }

  std::optional<ReplyWriting> writes() const override {
    std::optional<ReplyWriting> found;
    for_each_policy(All{},
                    [&]<hook::WritesReplies P>(P*) { found = P::writes(of<P>()).with(sampling); });
    return found;
  }

  OpenedData open([[maybe_unused]] const DataRequest& request) const override {
    if constexpr (hook::HasOpen<Data>) {
      OpenedData opened = hook::open<Data>(of<Data>(), request);
      for_each_policy(All{}, [&]<hook::HasObjective P>(P*) {
        std::vector<SpecialToken> special;
        if (opened.special) special = opened.special();
        prepare_batches(opened, P::objective(of<P>(), {Data::vocabulary, special}));
      });
      return opened;
    }
    return {};
  }
  Tokenizer tokenizer() const override {
    if constexpr (hook::HasTokenizer<Data>) return hook::tokenizer<Data>(of<Data>());
    return {};
  }
  Prompt prompt(const Tokenizer& t, std::string_view text) const override {
    if constexpr (hook::HasPrompt<Data>) return hook::prompt<Data>(of<Data>(), t, text);
    return RecipeView::prompt(t, text);
  }
  std::optional<Batching> batching([[maybe_unused]] int sequences) const override {
    std::optional<Batching> found;
    for_each_policy(
        All{}, [&]<hook::BatchesExamples P>(P*) { found = hook::batching<P>(of<P>(), sequences); });
    return found;
  }
};

}  // namespace sinter::detail
