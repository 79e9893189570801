// SPDX-License-Identifier: Apache-2.0
// What options may be, where a trainer is made, and what policies say of options that they ignore.
#include <limits>

#include "sinter/data/arrays.hpp"
#include "sinter/error.hpp"
#include "sinter/sinter.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

template <class... Policies>
using Net =
    Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 8, .micro = 2}>, Policies...>;

Option& find(const std::shared_ptr<RecipeView>& view, std::string_view name) {
  for (Option& option : view->options)
    if (option.dotted() == name) return option;
  FAIL("no option " << name);
  throw 0;
}

/// What a trainer says that is made with options changed, each by name; nothing where it is made.
template <class R>
std::string refusal(std::initializer_list<std::pair<const char*, double>> changes) {
  const auto view = Trainer<R>::options();
  for (auto [name, number] : changes)
    std::visit(
        [number = number](auto value) {
          if constexpr (std::is_pointer_v<decltype(value)>)
            *value = std::remove_pointer_t<decltype(value)>(number);
        },
        find(view, name).value);
  try {
    Trainer<R> trainer(view, {.threads = 1});
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a number outside its range makes no trainer") {
  using R = Net<AdamW<>, CosineDecay<>, Average<>>;
  CHECK(refusal<R>({}) == "");
  CHECK(refusal<R>({{"optimizer.lr", 0}}) == "");
  CHECK(refusal<R>({{"optimizer.beta1", 1.5}}) ==
        "optimizer.beta1 is 1.5, but it must be finite, at least 0 and below 1. Change it "
        "to such a number.");
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  struct Case {
    const char* name;
    std::vector<double> refused, taken;
  };
  const std::vector<Case> cases{{"optimizer.lr", {-1, infinity, not_a_number}, {0, 1e9}},
                                {"optimizer.beta2", {-.1, 1}, {0, .999}},
                                {"optimizer.eps", {0, -1e-8}, {1e-30}},
                                {"optimizer.weight_decay", {-.1}, {0}},
                                {"schedule.warmup", {-1}, {0, 1000}},
                                {"schedule.steps", {-1, -5}, {0, 1}},
                                {"schedule.floor", {-.1, 1.1}, {0, 1}},
                                {"clipping.max", {0, -1, infinity}, {1e-3}},
                                {"average.decay", {1, -.1}, {0}},
                                {"batch.global", {0, -8}, {2}}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (double number : c.refused) {
      CAPTURE(number);
      CHECK(refusal<R>({{c.name, number}}).starts_with(std::string(c.name) + " is "));
    }
    for (double number : c.taken) CHECK(refusal<R>({{c.name, number}}) == "");
  }
}

TEST_CASE("options that contradict each other make no trainer") {
  using Line = Net<LinearDecay<{.warmup = 10, .steps = 100}>>;
  CHECK(refusal<Line>({{"schedule.steps", 10}}) == "");
  CHECK(refusal<Line>({{"schedule.steps", 9}}) ==
        "in schedule, the warm-up is beyond the horizon: schedule.warmup is 10, "
        "schedule.steps is 9. To mend it: raise steps, or lower warmup.");
  CHECK(refusal<Line>({{"schedule.steps", 9}, {"schedule.warmup", 3}}) == "");
  using Stable = Net<WarmupStableDecay<{.warmup = 10, .steps = 100, .decay = 20}>>;
  CHECK(refusal<Stable>({{"schedule.decay", 90}}) == "");
  CHECK(refusal<Stable>({{"schedule.decay", 91}}).find("beyond steps") != std::string::npos);
  CHECK(refusal<Stable>({{"schedule.warmup", 9e18}, {"schedule.decay", 9e18}}).find("beyond") !=
        std::string::npos);
  CHECK(refusal<Net<Fp16<>>>({{"precision.initial_scale", .01}}).find("below its minimum") !=
        std::string::npos);
  CHECK(refusal<Net<ScaledRate<{.base = 4}>>>({{"scaling.base", 0}}).find("at least 1") !=
        std::string::npos);
}

TEST_CASE("run states have no ranges, whatever their names") {
  const auto view = Trainer<Net<Plateau<>>>::options();
  CHECK(find(view, "schedule.factor").range != nullptr);
  REQUIRE(!view->run_state.empty());
  for (const Option& field : view->run_state) CHECK(field.range == nullptr);
}

// ---- a loop of little data

const std::vector<float> inputs = [] {
  std::vector<float> values(96);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k % 7) / 7;
  return values;
}();
const std::vector<float> targets(64, .5f);

ArrayData training() { return ArrayData(inputs, 3, targets, 2, {.sequences = 8}); }
EvaluationArrays validation() { return EvaluationArrays(inputs, 3, targets, 2, 8); }

template <class R>
std::vector<double> logged_rates(std::int64_t steps) {
  Trainer<R> trainer({.threads = 1});
  Loop loop(trainer, training());
  std::vector<double> rates;
  loop.run({.steps = steps,
            .on_step = [&](const StepRecord& record) { rates.push_back(record.learning_rate); }});
  return rates;
}

TEST_CASE("Adafactor's relative step is the logged rate, and nothing reads lr") {
  constexpr std::int64_t warmup = 5, steps = 12000;  // beyond 10⁴ the root is the smaller one
  using Relative = Net<Adafactor<{.relative_step = true}>, ScaledRate<{.base = 4}>>;
  using Ramp = Net<Adafactor<{.relative_step = true, .warmup_init = true}>,
                   LinearDecay<{.warmup = warmup, .steps = steps}>>;
  const std::vector<double> rates = logged_rates<Relative>(steps), ramp = logged_rates<Ramp>(steps);
  REQUIRE(rates.size() == steps);
  REQUIRE(ramp.size() == steps);
  for (std::int64_t t = 1; t <= steps; ++t) {
    const double root = 1 / std::sqrt(double(t));
    const double left = t <= warmup ? 1 : 1 - double(t - 1 - warmup) / double(steps - warmup);
    const double factor = std::min(1., double(t) / warmup) * left;
    CAPTURE(t);
    REQUIRE(rates[t - 1] == doctest::Approx(2 * std::min(root, 1e-2)).epsilon(1e-12));
    REQUIRE(ramp[t - 1] == doctest::Approx(factor * std::min(root, 1e-6 * t)).epsilon(1e-12));
  }
  const auto view = Trainer<Relative>::options();
  CHECK_FALSE(find(view, "optimizer.lr").adjustable);
  CHECK(find(view, "optimizer.lr").why_fixed.find("nothing reads lr") != std::string_view::npos);
  CHECK(find(view, "optimizer.clip_threshold").adjustable);
  REQUIRE(view->notes().size() == 1);
  CHECK(view->notes()[0] ==
        "the learning rate, found for batches of 4 sequences, is multiplied by 2 for those of 8 "
        "(linear rule)");
  const auto usual = Trainer<Net<Adafactor<>>>::options();
  CHECK(find(usual, "optimizer.lr").adjustable);
  CHECK(find(usual, "optimizer.lr").why_fixed.empty());
}

TEST_CASE("the base of a scaled rate is a number like others") {
  const auto view = Trainer<Net<Adam<>, ScaledRate<{.base = 4}>>>::options();
  REQUIRE(find(view, "scaling.base").adjustable);
  *std::get<int*>(find(view, "scaling.base").value) = 2;
  CHECK(view->learning_rate(1) == doctest::Approx(4e-3));
}

using Watching = Net<Plateau<{.factor = .5, .patience = 0, .threshold = .9}>>;

TEST_CASE("a schedule that waits for evaluations is not left waiting") {
  Trainer<Watching> trainer({.threads = 1});
  CHECK(trainer.recipe().acts_on_evaluations == "schedule");
  CHECK(Trainer<Net<>>::options()->acts_on_evaluations.empty());
  Loop blind(trainer, training());
  CHECK_THROWS_AS(blind.run({.steps = 3}), ArgumentError);
  CHECK(trainer.steps() == 0);

  std::vector<std::string> warnings;
  auto warn = [&](const std::string& text) {
    if (text.find("acts on validation losses") != text.npos) warnings.push_back(text);
  };
  Loop late(trainer, training(), validation());
  late.run({.steps = 3, .on_warning = warn});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("comes after step 3, the last") != std::string::npos);
  late.run({.steps = 6, .evaluate_every = 6, .on_warning = warn});
  CHECK(warnings.size() == 1);  // once is enough
  Loop other(trainer, training(), validation());
  other.run({.steps = 12, .evaluate_every = 6, .on_warning = warn});
  CHECK(warnings.size() == 2);

  std::vector<double> rates;
  Loop in_time(trainer, training(), validation());
  in_time.run({.steps = 22,
               .evaluate_every = 5,
               .on_step = [&](const StepRecord& r) { rates.push_back(r.learning_rate); },
               .on_warning = warn});
  CHECK(warnings.size() == 2);
  REQUIRE(rates.size() == 10);
  CHECK(rates.back() < rates.front());
}

}  // namespace
}  // namespace sinter::detail::testing
