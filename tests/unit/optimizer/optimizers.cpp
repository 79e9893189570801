// SPDX-License-Identifier: Apache-2.0
// Optimizers, schedules and clipping: 100 steps of a trainer against their definitions, in double
// precision, from the gradients that the trainer reports.
#include "sinter/clipping/no_clip.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int steps = 100;
constexpr MlpOptions mlp{.in = 4, .hidden = 9, .out = 3, .layers = 3};
template <class... Policies>
using Small = Made<Mlp<mlp>, Batch<{.global = 12, .micro = 3}>, Policies...>;

HostBatch batch_of_step(int step) {
  HostBatch batch = sequences_of(std::vector<int>(12, 1));
  add_values(batch, mlp.in, std::uint64_t(step));
  batch.values.emplace_back();
  for (int row = 0; row < 12; ++row)
    for (int k = 0; k < mlp.out; ++k)
      batch.values[1].push_back(3 * batch.values[0][std::size_t(row * mlp.in + k)]);
  return batch;
}

/// Parameters that follow an optimizer's formula. t: the step, from 1.
template <class Options>
struct Formula {
  Options options;
  std::map<std::string, std::vector<kernel::OneParameter>> all{};

  void step(const std::string& name, Numbers& p, const Numbers& g, double lr, bool decayed, int t) {
    std::vector<kernel::OneParameter>& parameters = all[name];
    parameters.resize(p.size());
    for (std::size_t k = 0; k < p.size(); ++k) {
      parameters[k] = {p[k], g[k], lr, decayed ? options.weight_decay : 0, t, parameters[k].state};
      kernel::update_one(options, parameters[k]);
      p[k] = parameters[k].value;
    }
  }
};

struct Seen {
  bool clipped = false, unclipped = false;
  double moved = 0;  // the largest change of any number
};

/// rate(t): the learning rate. max_norm: of clipping. bound: of |difference| / max(|p|, 1).
template <class R>
Seen follow(auto reference, auto rate, double max_norm, double bound) {
  Trainer<R> trainer({.seed = 2, .threads = 1});
  NamedNumbers own = parameters_of(trainer), start = own;
  Seen seen;
  double worst = 0;
  for (int t = 1; t <= steps; ++t) {
    CAPTURE(t);
    Applied step = applied(trainer, batch_of_step(t));
    CHECK(step.learning_rate == doctest::Approx(rate(t)).epsilon(1e-14));
    double squares = 0;
    for (const Parameter& p : trainer.parameters())
      squares += std::pow(norm_of(trainer.gradient(p.name)), 2);
    CHECK(relative_difference(step.gradient_norm, std::sqrt(squares)) < 1e-13);
    const double scale = std::min(1., max_norm / (std::sqrt(squares) + 1e-6));
    (scale < 1 ? seen.clipped : seen.unclipped) = true;
    for (const Parameter& p : trainer.parameters()) {
      Numbers gradient = trainer.gradient(p.name);
      for (double& g : gradient) g *= scale;
      reference.step(p.name, own[p.name], gradient, rate(t), p.shape.size() == 2, t);
      const Numbers now = trainer.parameter(p.name);
      for (std::size_t k = 0; k < now.size(); ++k) {
        double error = std::abs(now[k] - own[p.name][k]) / std::max(1., std::abs(now[k]));
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
        seen.moved = std::max(seen.moved, std::abs(now[k] - start[p.name][k]));
      }
    }
  }
  CHECK(trainer.steps() == steps);
  CHECK(worst < bound);
  return seen;
}

constexpr double pi = 3.14159265358979323846;
double cosine(int t) {
  double progress = t <= 10 ? 0 : t > 80 ? 1 : (t - 11) / 70.;
  return std::min(1., t / 10.) * (.2 + .8 * (1 + std::cos(pi * progress)) / 2);
}
/// In single precision 100 updates are each rounded to the type, and their factors to a few times
/// that; the numbers themselves stay near one.
constexpr double fp64_bound = 1e-13, fp32_bound = 4 * steps * 0x1p-24;

TEST_CASE("AdamW with weight decay, clipping and a schedule follows its definition") {
  auto check = [&]<class Precision>(Precision, double bound) {
    using R = Small<Precision, AdamW<{.lr = .02, .weight_decay = .3}>, ClipNorm<{.max = 3}>,
                    CosineDecay<{.warmup = 10, .steps = 80, .floor = .2}>>;
    Seen seen = follow<R>(
        Formula<AdamWOptions>{{.weight_decay = .3}}, [](int t) { return .02 * cosine(t); }, 3,
        bound);
    CHECK(seen.clipped);
    CHECK(seen.unclipped);
    CHECK(seen.moved > .1);
  };
  check(Fp64(), fp64_bound);
  check(Fp32(), fp32_bound);
}
TEST_CASE("AdamW without decay or clipping follows its definition, with other constants") {
  using R = Small<Fp64, AdamW<{.lr = .01, .beta1 = .4, .beta2 = .95, .eps = .1, .weight_decay = 0}>,
                  NoClip>;
  const Formula<AdamWOptions> reference{{.beta1 = .4, .beta2 = .95, .eps = .1, .weight_decay = 0}};
  CHECK(follow<R>(reference, [](int) { return .01; }, 1e300, fp64_bound).moved > .1);
}
TEST_CASE("Sgd with momentum, decay and clipping follows its definition") {
  auto rate = [](int t) { return t <= 60 ? .01 * (1 - (t - 1) / 60.) : 0; };
  auto check = [&]<class Precision>(Precision, double bound) {
    using R = Small<Precision, Sgd<{.lr = .01, .momentum = .9, .weight_decay = .1}>,
                    ClipNorm<{.max = 3}>, LinearDecay<{.steps = 60}>>;
    Seen seen =
        follow<R>(Formula<SgdOptions>{{.momentum = .9, .weight_decay = .1}}, rate, 3, bound);
    CHECK(seen.clipped);
    CHECK(seen.unclipped);
    CHECK(seen.moved > .1);
  };
  check(Fp64(), fp64_bound);
  check(Fp32(), fp32_bound);
}
TEST_CASE("Adam with decay in its gradient, clipping and a schedule follows its definition") {
  auto check = [&]<class Precision>(Precision, double bound) {
    using R = Small<Precision, Adam<{.lr = .02, .weight_decay = .3}>, ClipNorm<{.max = 3}>,
                    CosineDecay<{.warmup = 10, .steps = 80, .floor = .2}>>;
    Seen seen = follow<R>(
        Formula<AdamOptions>{{.weight_decay = .3}}, [](int t) { return .02 * cosine(t); }, 3,
        bound);
    CHECK(seen.clipped);
    CHECK(seen.unclipped);
    CHECK(seen.moved > .1);
  };
  check(Fp64(), fp64_bound);
  check(Fp32(), fp32_bound);
}
TEST_CASE("Sgd with Nesterov's momentum, decay and clipping follows its definition") {
  auto check = [&]<class Precision>(Precision, double bound) {
    using R =
        Small<Precision, Sgd<{.lr = .01, .momentum = .9, .weight_decay = .1, .nesterov = true}>,
              ClipNorm<{.max = 3}>>;
    Seen seen = follow<R>(
        Formula<SgdOptions>{{.momentum = .9, .weight_decay = .1, .nesterov = true}},
        [](int) { return .01; }, 3, bound);
    CHECK(seen.clipped);
    CHECK(seen.moved > .1);
  };
  check(Fp64(), fp64_bound);
  check(Fp32(), fp32_bound);
}
TEST_CASE("Lion with decay and a schedule follows its definition") {
  auto check = [&]<class Precision>(Precision, double bound) {
    using R = Small<Precision, Lion<{.lr = .01, .weight_decay = .3}>, NoClip,
                    LinearDecay<{.steps = 100}>>;
    Seen seen = follow<R>(
        Formula<LionOptions>{{.weight_decay = .3}},
        [](int t) { return .01 * (1 - (t - 1) / 100.); }, 1e300, bound);
    CHECK(seen.moved > .1);
  };
  check(Fp64(), fp64_bound);
  check(Fp32(), fp32_bound);
}
TEST_CASE("plain Sgd follows its definition") {
  using R = Small<Fp64, Sgd<{.lr = .02}>, NoClip>;
  Seen seen = follow<R>(Formula<SgdOptions>{}, [](int) { return .02; }, 1e300, fp64_bound);
  CHECK(seen.moved > .1);
}

// ---- the functions themselves

TEST_CASE("schedules are right at their corners") {
  CHECK(Constant::factor({}, 1) == 1);
  CHECK(Constant::factor({}, 1000000) == 1);

  using Line = LinearDecay<>;
  const LinearDecayOptions line{.warmup = 10, .steps = 110};
  CHECK(Line::factor(line, 1) == doctest::Approx(.1));  // not 0
  CHECK(Line::factor(line, 9) == doctest::Approx(.9));
  CHECK(Line::factor(line, 10) == 1);  // the warm-up's end
  CHECK(Line::factor(line, 11) == 1);
  CHECK(Line::factor(line, 12) == doctest::Approx(.99));
  CHECK(Line::factor(line, 61) == doctest::Approx(.5));    // the middle
  CHECK(Line::factor(line, 110) == doctest::Approx(.01));  // the horizon: the last that moves
  CHECK(Line::factor(line, 111) == 0);
  CHECK(Line::factor(line, 100000) == 0);
  CHECK(Line::factor({.warmup = 0, .steps = 4}, 1) == 1);
  CHECK(Line::factor({.warmup = 0, .steps = 4}, 4) == doctest::Approx(.25));
  CHECK(Line::factor({.warmup = 5, .steps = 5}, 5) == 1);
  CHECK(Line::factor({.warmup = 5, .steps = 5}, 6) == 0);
  CHECK(Line::factor({.warmup = 9, .steps = 5}, 5) == doctest::Approx(5. / 9));
  CHECK(Line::factor({.warmup = 9, .steps = 5}, 6) == 0);

  using Cosine = CosineDecay<>;
  const CosineDecayOptions wave{.warmup = 10, .steps = 110, .floor = .1};
  CHECK(Cosine::factor(wave, 1) == doctest::Approx(.1));
  CHECK(Cosine::factor(wave, 10) == 1);
  CHECK(Cosine::factor(wave, 11) == 1);
  CHECK(Cosine::factor(wave, 36) == doctest::Approx(.1 + .9 * (1 + std::sqrt(.5)) / 2));
  CHECK(Cosine::factor(wave, 61) == doctest::Approx(.55));
  CHECK(Cosine::factor(wave, 86) == doctest::Approx(.1 + .9 * (1 - std::sqrt(.5)) / 2));
  CHECK(Cosine::factor(wave, 111) == doctest::Approx(.1));
  CHECK(Cosine::factor(wave, 100000) == doctest::Approx(.1));
  for (int t = 11; t < 111; ++t) CHECK(Cosine::factor(wave, t + 1) < Cosine::factor(wave, t));
  CHECK(Cosine::factor({.warmup = 0, .steps = 8}, 100) == doctest::Approx(0));
}

// ---- what is not finite

/// Steps, each after some that must be skipped.
template <class... Policies>
void skip_and_compare() {
  using R = Small<Fp32, AdamW<{.lr = .01}>, CosineDecay<{.warmup = 3, .steps = 6}>, Policies...>;
  Trainer<R> calm({.seed = 2, .threads = 1}), hit({.seed = 2, .threads = 1});
  for (int t = 1; t <= 5; ++t) {
    CAPTURE(t);
    for (float bad : {NAN, INFINITY, 1e30f}) {  // 1e30² is beyond single precision
      const NamedNumbers before = parameters_of(hit);
      HostBatch batch = batch_of_step(t);
      batch.values[t % 2][7] = bad;
      Outcome outcome = hit.step(batch);
      REQUIRE(std::holds_alternative<Skipped>(outcome));
      CHECK(std::get<Skipped>(outcome).loss.count == 36);
      CHECK(parameters_of(hit) == before);
      CHECK(hit.steps() == t - 1);
    }
    Applied a = applied(calm, batch_of_step(t)), b = applied(hit, batch_of_step(t));
    CHECK(a.loss.sum == b.loss.sum);
    CHECK(a.learning_rate == b.learning_rate);
    CHECK(parameters_of(calm) == parameters_of(hit));
  }
}
TEST_CASE("a step whose loss or gradient is not finite changes nothing") { skip_and_compare(); }
TEST_CASE("a step that is not finite on only one rank changes nothing on any") {
  skip_and_compare<Ddp<>>();
}

}  // namespace
}  // namespace sinter::detail::testing
