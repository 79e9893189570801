// SPDX-License-Identifier: Apache-2.0
// Muon: 100 steps against its definition in double precision, from the gradients that the trainer
// reports.
#include "sinter/optimizer/muon.hpp"
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/clipping/no_clip.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/groups.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

constexpr MuonOptions muon{
    .lr = .05, .momentum = .9, .weight_decay = .2, .adamw_lr = .02, .adamw_weight_decay = .3};
template <class Model, class... Policies>
using Net = Made<Model, Batch<{.global = 12, .micro = 6}>, NoClip, Policies...>;
using ThreeLayers = Mlp<{.in = 4, .hidden = 24, .out = 3, .layers = 3}>;

/// Two matrices between the first and the last, neither of them square.
template <WeightLayout Layout>
struct Bulge {
  template <int In, int Out, bool Hidden>
  struct Layer {
    static constexpr LinearOptions options{
        .layout = Layout, .weight = Init::normal(.3f), .bias = Init::normal(.1f), .hidden = Hidden};
    static constexpr Value<Out> trace(auto& g, Value<In> x) {
      return g("act", Relu<Out>{}, g("", Linear<In, Out, options>{}, x));
    }
  };
  struct Last {
    static constexpr Value<1> trace(auto& g, Value<24> x, Value<3> target) {
      auto y = g("", Linear<24, 3, {.layout = Layout, .hidden = false}>{}, x);
      return g("loss", MeanSquaredError<3>{}, y, target);
    }
  };
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("first", Layer<4, 24, false>{}, g.template values<4>());
    x = g.unit("down", Layer<48, 24, true>{}, g.unit("up", Layer<24, 48, true>{}, x));
    g.result(g.unit("last", Last{}, x, g.template target_values<3>()));
  }
};
using InOut = Bulge<WeightLayout::in_out>;
using OutIn = Bulge<WeightLayout::out_in>;

struct Fans {
  int in, out;
};
/// Hidden matrices of these models, by their layers and not by their shapes.
const std::map<std::string, Fans> fans{
    {"hidden.0.weight", {24, 24}}, {"up.weight", {24, 48}}, {"down.weight", {48, 24}}};

HostBatch rows(int step) {
  return regression_batch(std::vector<int>(12, 1), 4, 3, std::uint64_t(step));
}

/// rows × columns, row-major.
struct Dense {
  int rows, columns;
  Numbers x;
};
Dense product(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.columns, Numbers(std::size_t(a.rows * b.columns))};
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k)
      for (int j = 0; j < b.columns; ++j)
        c.x[i * c.columns + j] += a.x[i * a.columns + k] * b.x[k * b.columns + j];
  return c;
}
Dense transpose(const Dense& a) {
  Dense t{a.columns, a.rows, Numbers(a.x.size())};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) t.x[j * a.rows + i] = a.x[i * a.columns + j];
  return t;
}

/// torch.optim.Muon's _zeropower_via_newtonschulz, in double.
Dense orthogonal(Dense g) {
  const bool turned = g.rows > g.columns;
  if (turned) g = transpose(g);
  const double norm = norm_of(g.x);
  for (double& v : g.x) v /= std::max(norm, 1e-7);
  for (int k = 0; k < 5; ++k) {
    Dense gram = product(g, transpose(g)), square = product(gram, gram);
    for (std::size_t i = 0; i < gram.x.size(); ++i)
      gram.x[i] = -4.7750 * gram.x[i] + 2.0315 * square.x[i];
    Dense more = product(gram, g);
    for (std::size_t i = 0; i < g.x.size(); ++i) g.x[i] = 3.4445 * g.x[i] + more.x[i];
  }
  return turned ? transpose(g) : g;
}

struct Reference {
  NamedNumbers buffer{}, m{}, v{};

  void step(const Parameter& p, Numbers& w, const Numbers& g, int t) {
    if (fans.contains(p.name)) return matrix(p, w, g);
    Numbers &mean = m[p.name], &square = v[p.name];
    mean.resize(w.size());
    square.resize(w.size());
    for (std::size_t k = 0; k < w.size(); ++k) {
      mean[k] = .9 * mean[k] + .1 * g[k];
      square[k] = .999 * square[k] + .001 * g[k] * g[k];
      if (p.shape.size() == 2) w[k] -= muon.adamw_lr * muon.adamw_weight_decay * w[k];
      w[k] -= muon.adamw_lr * (mean[k] / (1 - std::pow(.9, t))) /
              (std::sqrt(square[k] / (1 - std::pow(.999, t))) + muon.eps);
    }
  }
  void matrix(const Parameter& p, Numbers& w, const Numbers& g) {
    Numbers& b = buffer[p.name];
    b.resize(w.size());
    Dense u{int(p.shape[0]), int(p.shape[1]), g};
    for (std::size_t k = 0; k < w.size(); ++k) {
      b[k] = muon.momentum * b[k] + (1 - muon.momentum) * g[k];
      u.x[k] = (1 - muon.momentum) * g[k] + muon.momentum * b[k];
    }
    u = orthogonal(u);
    const Fans fan = fans.at(p.name);
    const double rate = muon.lr * std::sqrt(std::max(1., double(fan.out) / fan.in));
    for (std::size_t k = 0; k < w.size(); ++k)
      w[k] = w[k] * (1 - muon.lr * muon.weight_decay) - rate * u.x[k];
  }
};

using Followed = Net<ThreeLayers, Muon<muon>>;
static_assert(ready<Followed>());

/// Of one step: the iteration stretches small singular values by up to 3.4^5, and rounding with
/// them; `roundings` of that size go in.
constexpr double widest = 1.4142135623730951;  // √(48 / 24)
double amplified(int roundings) {
  return muon.lr * widest * std::pow(3.4445, 5) * 0x1p-24 * roundings;
}

TEST_CASE_TEMPLATE("each step of Muon follows its definition", Model, ThreeLayers, InOut, OutIn) {
  Trainer<Net<Model, Muon<muon>>> trainer({.seed = 2, .threads = 1});
  Reference reference;
  double worst = 0, moved = 0;
  for (int t = 1; t <= 100; ++t) {
    NamedNumbers before = parameters_of(trainer);
    applied(trainer, rows(t));
    for (const Parameter& p : trainer.parameters()) {
      Numbers want = before[p.name], now = trainer.parameter(p.name);
      reference.step(p, want, trainer.gradient(p.name), t);
      for (std::size_t k = 0; k < now.size(); ++k) {
        worst = std::max(worst, std::abs(now[k] - want[k]));
        moved = std::max(moved, std::abs(now[k] - before[p.name][k]));
      }
    }
  }
  MESSAGE("at most " << worst << " from the definition, in steps of up to " << moved);
  CHECK(moved > .01);
  CHECK(worst < amplified(8));
}

/// Each entry of a gradient is a sum over 12 rows of products that went through matmuls of up to
/// 48, 24 and 3 terms, so the layouts' gradients differ by at most about 90 roundings; so do the
/// moments, which are averages of them.
TEST_CASE("how files hold weights does not change a step") {
  auto turned = [](const Parameter& p, const Numbers& x) {
    if (p.shape.size() != 2) return x;
    return transpose({int(p.shape[0]), int(p.shape[1]), x}).x;
  };
  Trainer<Net<InOut, Muon<muon>>> trainer({.seed = 2, .threads = 1});
  Trainer<Net<OutIn, Muon<muon>>> other({.seed = 3, .threads = 1});
  double worst = 0, moved = 0;
  for (int t = 1; t <= 50; ++t) {
    NamedNumbers before = parameters_of(trainer);
    for (const Parameter& p : trainer.parameters())
      other.set_parameter(p.name, turned(p, before[p.name]));
    applied(trainer, rows(t));
    applied(other, rows(t));
    for (const Parameter& p : trainer.parameters()) {
      const Numbers now = turned(p, trainer.parameter(p.name)), same = other.parameter(p.name);
      for (std::size_t k = 0; k < now.size(); ++k) {
        worst = std::max(worst, std::abs(now[k] - same[k]));
        moved = std::max(moved, std::abs(now[k] - turned(p, before[p.name])[k]));
      }
    }
  }
  MESSAGE("at most " << worst << " apart, in steps of up to " << moved);
  CHECK(moved > .01);
  CHECK(worst < amplified(90));
}

/// Each rounding errs by some 2^-9.2 of the number. Five iterations of three products with two
/// inputs each are √30 of them; what the later ones stretch is, for all but the smallest singular
/// values, less than twice: 2 √30 2^-9.2 = 2 %.
TEST_CASE("rounded products step where whole ones do, to their rounding") {
  constexpr MuonOptions rounded = [] {
    MuonOptions o = muon;
    o.rounded = true;
    return o;
  }();
  Trainer<Followed> whole({.seed = 2, .threads = 1});
  Trainer<Net<ThreeLayers, Muon<rounded>>> other({.seed = 2, .threads = 1});
  const bool rounds =
      kernel::matmul_unit<float>(kernel::MatmulInputs::rounded) != kernel::MatmulUnit::own;
  const NamedNumbers before = parameters_of(whole);
  applied(whole, rows(1));
  applied(other, rows(1));
  for (const Parameter& p : whole.parameters()) {
    CAPTURE(p.name);
    Numbers change = whole.parameter(p.name), apart = other.parameter(p.name);
    for (std::size_t k = 0; k < change.size(); ++k) {
      apart[k] -= change[k];
      change[k] -= before.at(p.name)[k];
    }
    CHECK(norm_of(apart) < .05 * norm_of(change));
    CHECK((norm_of(apart) > 0) == (rounds && p.state[0].shape.size() > 0));
  }
}

/// Adam's first step is the rate, in the direction of the gradient; decay comes first.
TEST_CASE("AdamW's rate is its own times all factors, also where Muon's is 0") {
  using Still = Net<ThreeLayers, Muon<{.lr = 0, .adamw_lr = .02, .adamw_weight_decay = .3}>,
                    LinearDecay<{.warmup = 4, .steps = 10}>,
                    ScaledRate<{.rule = ScalingRule::linear, .base = 6}>,
                    Groups<Group<"output.*", {.learning_rate = 3}>>>;
  static_assert(ready<Still>());
  Trainer<Still> trainer({.seed = 2, .threads = 1});
  NamedNumbers before = parameters_of(trainer);
  CHECK(applied(trainer, rows(1)).learning_rate == 0);
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    const double rate = .02 * 2 * (p.name.starts_with("output") ? 3 : 1) / 4;
    const Numbers now = trainer.parameter(p.name), gradient = trainer.gradient(p.name);
    for (std::size_t k = 0; k < now.size(); ++k) {
      double want = before[p.name][k];
      if (!fans.contains(p.name)) {
        if (p.shape.size() == 2) want *= 1 - rate * .3;
        want -= rate * gradient[k] / (std::abs(gradient[k]) + 1e-8);
      }
      CHECK(now[k] == doctest::Approx(want).epsilon(1e-5));
    }
  }
}

TEST_CASE_TEMPLATE("hidden matrices keep one number for each, the others two", Model, ThreeLayers,
                   InOut, OutIn) {
  using R = Net<Model, Muon<muon>>;
  std::int64_t bytes = 0, hidden = 0;
  for (const Parameter& p : list_parameters(Plan<R>::model)) {
    CAPTURE(p.name);
    const bool matrix = fans.contains(p.name);
    hidden += matrix;
    REQUIRE(p.state.size() == 3);
    CHECK(p.state[0].shape.size() == (matrix ? p.size : 0));
    CHECK(p.state[1].shape.size() == (matrix ? 0 : p.size));
    for (const StatePart& part : p.state) bytes += aligned(part.shape.bytes());
  }
  CHECK(hidden == (std::is_same_v<Model, ThreeLayers> ? 1 : 2));
  CHECK(Plan<R>::memory.optimizer == bytes);
}

TEST_CASE("a resumed run goes on, bit for bit, also beside a copy of the weights") {
  auto check = [&]<class R>(R) {
    Trainer<R> trainer({.seed = 2, .threads = 1}), again({.seed = 3, .threads = 1});
    for (int t = 1; t <= 4; ++t) applied(trainer, rows(t));
    TemporaryFolder folder;
    trainer.save(folder / "saved");
    again.load(folder / "saved");
    for (int t = 5; t <= 8; ++t)
      CHECK(applied(trainer, rows(t)).loss.sum == applied(again, rows(t)).loss.sum);
    CHECK(parameters_of(trainer) == parameters_of(again));
  };
  check(Followed{});
  check(Net<InOut, Muon<muon>, Bf16>{});
}

}  // namespace
}  // namespace sinter::detail::testing
