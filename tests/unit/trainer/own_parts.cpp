// SPDX-License-Identifier: Apache-2.0
// The tutorial's own layer and own policy, both in a foreign namespace, do what they say.
#define main layer_main
#include "../../../examples/own_layer.cpp"
#undef main
#define main policy_main
#include "../../../examples/own_policy.cpp"
#undef main

#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("the gradients of an own layer are right") {
  using R = Checked<Around<Doubled<acme::Swish<wide>>>>;
  expect_right_gradients<R>(regression_batch(lengths, given_width, target_width, 1));
}

template <class... Policies>
using Averaged = Made<Mlp<{.in = 2, .hidden = 5, .out = 1}>, acme::Average<{.decay = .6}>,
                      Batch<{.global = 8, .micro = 2}>, Policies...>;
HostBatch rows(std::uint64_t seed) { return regression_batch(std::vector<int>(8, 1), 2, 1, seed); }

/// By the formula that the example's comment states, from the weights after each step.
class Reference {
 public:
  explicit Reference(double most = .6) : most(most) {}
  void update(const TrainerCore& trainer) {
    ++updates;
    double decay = std::min(most, updates / (updates + 9));
    for (const auto& [name, weights] : parameters_of(trainer)) {
      Numbers& average = averages[name];
      average.resize(weights.size());
      for (std::size_t k = 0; k < weights.size(); ++k)
        average[k] = float(decay * average[k] + (1 - decay) * weights[k]);
    }
  }
  void check(const TrainerCore& trainer) const {
    for (const auto& [name, average] : averages) {
      CAPTURE(name);
      CHECK(trainer.state("average", name) == average);
    }
  }

 private:
  double most, updates = 0;
  NamedNumbers averages;
};

template <class R>
void check_average() {
  Trainer<R> trainer({.seed = 3, .threads = 2});
  Reference reference;
  for (int s = 0; s < 20; ++s) {
    applied(trainer, rows(s));
    reference.update(trainer);
    reference.check(trainer);
  }
}
TEST_CASE("an own instruction runs once a step, after the update") { check_average<Averaged<>>(); }
TEST_CASE("an own instruction runs once a step on ranks, too") { check_average<Averaged<Ddp<>>>(); }

TEST_CASE("a skipped step leaves the state of an own policy alone") {
  Trainer<Averaged<>> trainer({.seed = 3, .threads = 1});
  Reference reference;
  applied(trainer, rows(1));
  reference.update(trainer);
  HostBatch bad = rows(2);
  bad.values[0][3] = NAN;
  CHECK(std::holds_alternative<Skipped>(trainer.step(bad)));
  reference.check(trainer);
  applied(trainer, rows(3));
  reference.update(trainer);
  reference.check(trainer);
}

TEST_CASE("checkpoints hold the state of an own policy") {
  TemporaryFolder scratch;
  Trainer<Averaged<>> trainer({.seed = 3, .threads = 1}), again({.seed = 4, .threads = 1});
  Reference reference;
  for (int s = 0; s < 5; ++s) {
    applied(trainer, rows(s));
    reference.update(trainer);
  }
  trainer.save(scratch / "saved");
  again.load(scratch / "saved");
  applied(again, rows(5));
  reference.update(again);
  reference.check(again);
}

TEST_CASE("the options of an own policy can be changed at run time") {
  const auto view = Trainer<Averaged<>>::options();
  auto decay = std::find_if(view->options.begin(), view->options.end(),
                            [](const Option& o) { return o.dotted() == "averaging.decay"; });
  REQUIRE(decay != view->options.end());
  REQUIRE(decay->adjustable);
  *std::get<double*>(decay->value) = .2;
  Trainer<Averaged<>> trainer(view, {.seed = 3, .threads = 1});
  Reference reference(.2);
  for (int s = 0; s < 5; ++s) {
    applied(trainer, rows(s));
    reference.update(trainer);
  }
  reference.check(trainer);
}

}  // namespace
}  // namespace sinter::detail::testing
