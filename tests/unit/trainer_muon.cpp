// Muon: 100 steps against its definition in double precision, from the gradients that the trainer
// reports.
#include "files_support.hpp"
#include "sinter/clipping/no_clip.hpp"
#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/precision/bf16.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::testing {
namespace {

constexpr MuonOptions muon{.lr = .05, .momentum = .9, .weight_decay = .2, .adamw_lr = .02};
template <class... Policies>
using Net = Made<Mlp<{.in = 4, .hidden = 24, .out = 3, .layers = 3}>,
                 Batch<{.global = 12, .micro = 6}>, NoClip, Policies...>;
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
    if (p.shape.size() == 2) return matrix(p, w, g);
    Numbers &mean = m[p.name], &square = v[p.name];
    mean.resize(w.size());
    square.resize(w.size());
    for (std::size_t k = 0; k < w.size(); ++k) {
      mean[k] = .9 * mean[k] + .1 * g[k];
      square[k] = .999 * square[k] + .001 * g[k] * g[k];
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
    const double rate = muon.lr * std::sqrt(std::max(1., double(u.rows) / u.columns));
    for (std::size_t k = 0; k < w.size(); ++k)
      w[k] = w[k] * (1 - muon.lr * muon.weight_decay) - rate * u.x[k];
  }
};

using Followed = Net<Muon<muon>>;
static_assert(ready<Followed>());

/// The iteration stretches small singular values by up to 3.4^5, and rounding with them.
TEST_CASE("each step is that of the definition") {
  Trainer<Followed> trainer({.seed = 2, .threads = 1});
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
  CHECK(moved > .01);
  CHECK(worst < .05 * std::pow(3.4445, 5) * 0x1p-24 * 8);
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
  Trainer<Net<Muon<rounded>>> other({.seed = 2, .threads = 1});
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

TEST_CASE("matrices keep one number for each, the others two") {
  const Model& model = Plan<Followed>::model;
  std::int64_t bytes = 0;
  for (const Parameter& p : list_parameters(model)) {
    CAPTURE(p.name);
    const bool matrix = p.shape.size() == 2;
    REQUIRE(p.state.size() == 3);
    CHECK(p.state[0].shape.size() == (matrix ? p.size : 0));
    CHECK(p.state[1].shape.size() == (matrix ? 0 : p.size));
    for (const StatePart& part : p.state) bytes += aligned(part.shape.bytes());
  }
  CHECK(Plan<Followed>::memory.optimizer == bytes);
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
  check(Net<Muon<muon>, Bf16>{});
}

}  // namespace
}  // namespace sinter::testing
