// SPDX-License-Identifier: Apache-2.0
// Fused layers equal what they replace, in double precision: losses, norms and gradients.
#include "sinter/model/gpt2.hpp"
#include "support/batches.hpp"
#include "support/layer_models.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::fused_tests {

constexpr double bound = 1e-13;
const TrainerSettings settings{.seed = 5, .threads = 1};

/// Steps both from the same weights. name: what the plain model calls a parameter of the fused one.
void check_equal(TrainerCore& fused, TrainerCore& plain, const HostBatch& batch, auto name,
                 int steps = 3) {
  REQUIRE(fused.parameters().size() == plain.parameters().size());
  for (const Parameter& p : fused.parameters())
    fused.set_parameter(p.name, plain.parameter(name(p.name)));
  for (int s = 0; s < steps; ++s) {
    Applied a = applied(fused, batch), b = applied(plain, batch);
    CAPTURE(s);
    CHECK(relative_difference(a.loss.mean(), b.loss.mean()) < bound);
    CHECK(relative_difference(a.gradient_norm, b.gradient_norm) < bound);
    for (const Parameter& p : fused.parameters()) {
      CAPTURE(p.name);
      const std::string other = name(p.name);
      CHECK(norm_of(plain.gradient(other)) > 0);
      CHECK(relative_difference(fused.gradient(p.name), plain.gradient(other)) < bound);
    }
  }
}
std::string same_name(const std::string& name) { return name; }

TEST_CASE("AddLayerNorm equals Add and LayerNorm") {
  Trainer<Checked<Around<AddThenNorm<wide>>>> fused(settings);
  Trainer<Checked<Around<AddThenNormUnfused<wide>>>> plain(settings);
  randomise(plain, 7);
  check_equal(fused, plain, regression_batch(lengths, given_width, target_width, 1), same_name);
}

TEST_CASE("AddRmsNorm equals Add and RmsNorm") {
  constexpr RmsNormOptions options{.eps = .125};
  using Fused = AddThenNorm<wide, AddRmsNorm<wide, options>>;
  using Plain = AddThenNormUnfused<wide, RmsNorm<wide, options>>;
  Trainer<Checked<Around<Fused>>> fused(settings);
  Trainer<Checked<Around<Plain>>> plain(settings);
  randomise(plain, 7);
  check_equal(fused, plain, regression_batch(lengths, given_width, target_width, 1), same_name);
}

/// Columns [First, First + W) of Of.
template <int Of, int First, int W>
struct Columns {
  static constexpr std::array in{Of};
  static constexpr std::array out{W};
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < y.rows; ++r)
      for (int k = 0; k < W; ++k) y(r, k) = x(r, First + k);
  }
  static void backward(auto& c) {
    auto dy = c.dy(), dx = c.dx();
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < Of; ++k)
        dx.put(r, k, k >= First && k < First + W ? dy(r, k - First) : 0.);
  }
};
/// Element by element.
template <int W>
struct Product {
  static constexpr std::array in{W, W};
  static constexpr std::array out{W};
  template <class T, class Statistic>
  struct Saved {
    T a, b;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1)};
  static void forward(auto& c) {
    auto a = c.x(0), b = c.x(1), y = c.y();
    for (int r = 0; r < y.rows; ++r)
      for (int k = 0; k < W; ++k) y(r, k) = a(r, k) * b(r, k);
  }
  static void backward(auto& c) {
    auto a = c.saved.a, b = c.saved.b, dy = c.dy(), da = c.dx(0), db = c.dx(1);
    for (int r = 0; r < dy.rows; ++r)
      for (int k = 0; k < W; ++k) {
        da.put(r, k, dy(r, k) * b(r, k));
        db.put(r, k, dy(r, k) * a(r, k));
      }
  }
};
struct GatedByLayers {
  static constexpr std::array in{2 * wide};
  static constexpr Value<wide> trace(auto& g, Value<2 * wide> x) {
    auto gate = g("gate", Columns<2 * wide, 0, wide>{}, x);
    auto up = g("up", Columns<2 * wide, wide, wide>{}, x);
    return g("product", Product<wide>{}, g("act", Silu<wide>{}, gate), up);
  }
};

TEST_CASE("SwiGlu equals Silu of one half times the other") {
  Trainer<Checked<Around<Alone<SwiGlu<wide>>>>> fused(settings);
  Trainer<Checked<Around<GatedByLayers>>> plain(settings);
  randomise(plain, 7);
  check_equal(fused, plain, regression_batch(lengths, given_width, target_width, 1), same_name);
}

/// Cross-entropy of logits, by its definition.
template <int W>
struct CrossEntropyOfLogits {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static void forward(auto& c) {
    each_row(c.x(), c.ids(1), c.y(), [](auto...) {});
  }
  static void backward(auto& c) {
    auto dx = c.dx();
    each_row(c.saved.x, c.ids(1), c.y(),
             [&](int row, int k, double slope) { dx.put(row, k, c.loss_weight() * slope); });
  }

 private:
  static void each_row(auto x, auto ids, auto y, auto slope) {
    for (int r = 0; r < x.rows; ++r) {
      int target = ids(r, 0);
      double most = x(r, 0), sum = 0;
      for (int k = 0; k < W; ++k) most = std::max(most, x(r, k));
      for (int k = 0; k < W; ++k) sum += std::exp(x(r, k) - most);
      y(r, 0) = target < 0 ? 0 : most + std::log(sum) - x(r, target);
      for (int k = 0; k < W; ++k)
        slope(r, k, target < 0 ? 0 : std::exp(x(r, k) - most) / sum - (k == target));
    }
  }
};

/// So many words and rows that the fused layer takes several chunks.
constexpr int many_words = 8192, many_rows = 50, little = 6;
static_assert(LinearCrossEntropy<many_words, little>::chunk(micro * many_rows * 2) == 128);

struct FusedHead {
  static constexpr Value<1> trace(auto& g, Value<little> x, Ids targets) {
    return g("", LinearCrossEntropy<many_words, little>{}, x, targets);
  }
};
struct PlainHead {
  static constexpr Value<1> trace(auto& g, Value<little> x, Ids targets) {
    auto logits = g("", Unembedding<many_words, little>{}, x);
    return g("loss", CrossEntropyOfLogits<many_words>{}, logits, targets);
  }
};
template <class Head>
struct HeadModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("a", Before<given_width, little>{}, g.template values<given_width>());
    g.result(g.unit("head", Head{}, x, g.targets()));
  }
};
template <class Head>
using ManyWords =
    Made<HeadModel<Head>, UpTo<many_rows, many_words>, Fp64, Batch<{.global = 8, .micro = 4}>>;

TEST_CASE("LinearCrossEntropy in chunks equals Unembedding and a reference") {
  HostBatch batch = sequences_of({50, 49, 50, 48, 17, 1, 50});
  add_values(batch, given_width, 1);
  add_ids(batch, many_words, 2, .2);
  Trainer<ManyWords<FusedHead>> fused(settings);
  Trainer<ManyWords<PlainHead>> plain(settings);
  randomise(plain, 7, 2);  // far from uniform
  CHECK(relative_difference(fused.evaluate(batch).sum, plain.evaluate(batch).sum) > .01);
  check_equal(fused, plain, batch, same_name, 1);
}

// ---- GPT-2 with the norm at a block's end: h and n pass the borders

constexpr Gpt2Options small{.layers = 3, .heads = 2, .width = 12, .vocabulary = 11, .positions = 9};
constexpr int W = small.width;

struct EmbedAndNorm {
  static constexpr std::tuple<Value<W>, Value<W>> trace(auto& g, Ids tokens) {
    auto x = g("wte", Embedding<small.vocabulary, W>{}, tokens);
    auto h = g("wpe", AddPosition<small.positions, W>{}, x);
    return {h, g("h.0.ln_1", LayerNorm<W>{}, h)};
  }
};
/// A block from its first matrix product to the last; what is to be added to h, and h.
constexpr std::tuple<Value<W>, Value<W>> inside(auto& g, Value<W> x, Value<W> n) {
  auto qkv = g("attn.c_attn", Linear<W, 3 * W>{}, n);
  auto mixed = g("attn", CausalSelfAttention<W, small.heads>{}, qkv);
  auto attended = g("attn.c_proj", Linear<W, W>{}, mixed);
  auto [h, m] = g("ln_2", AddLayerNorm<W>{}, x, attended);
  auto act = g("mlp.act", GeluTanh<4 * W>{}, g("mlp.c_fc", Linear<W, 4 * W>{}, m));
  return {h, g("mlp.c_proj", Linear<4 * W, W>{}, act)};
}
struct BlockAndNorm {
  static constexpr std::tuple<Value<W>, Value<W>> trace(auto& g, Value<W> x, Value<W> n) {
    auto [h, more] = inside(g, x, n);
    return g("next", AddLayerNorm<W>{}, h, more);
  }
};
struct LastBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> n) {
    auto [h, more] = inside(g, x, n);
    return g("ln_f", LayerNorm<W>{}, g("add", Add<W>{}, h, more));
  }
};
struct TiedHead {
  static constexpr Value<1> trace(auto& g, Value<W> n, Ids targets) {
    return g.tied("lm_head", "wte", LinearCrossEntropy<small.vocabulary, W>{}, n, targets);
  }
};
struct FusedGpt2 {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("", EmbedAndNorm{}, tokens);
    auto [h, n] = g.repeat(small.layers - 1, "h", BlockAndNorm{}, embedded);
    auto last = g.unit("h.2", LastBlock{}, h, n);
    g.result(g.tied_unit("ln_f", std::get<0>(embedded), TiedHead{}, last, targets));
  }
};
/// Norms belong to the block before.
std::string name_in_gpt2(const std::string& name) {
  std::string own = name.substr(name.rfind('.'));
  if (name.starts_with("h.0.next")) return "h.1.ln_1" + own;
  if (name.starts_with("h.1.next")) return "h.2.ln_1" + own;
  if (name.starts_with("h.2.ln_f")) return "ln_f" + own;
  return name;
}
template <class Model>
using OnText = Made<Model, UpTo<8, small.vocabulary>, Fp64, Batch<{.global = 6, .micro = 2}>>;

TEST_CASE("GPT-2 whose blocks pass h and its norm equals Gpt2") {
  Trainer<OnText<FusedGpt2>> fused(settings);
  Trainer<OnText<Gpt2<small>>> plain(settings);
  randomise(plain, 7, .3);
  HostBatch batch = token_batch({8, 3, 1, 7, 5}, small.vocabulary, 1, .2);
  check_equal(fused, plain, batch, name_in_gpt2, 1);
  // Further steps: the differences that AdamW makes of rounding stay small.
  for (int s = 0; s < 20; ++s) {
    Applied a = applied(fused, batch), b = applied(plain, batch);
    CHECK(relative_difference(a.loss.mean(), b.loss.mean()) < 1e-9);
  }
}

}  // namespace sinter::detail::testing::fused_tests
