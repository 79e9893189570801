// SPDX-License-Identifier: Apache-2.0
// Small models around one layer, in double precision, for gradient checks.
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/binary_cross_entropy.hpp"
#include "sinter/layer/concat.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/dropout.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/rotary.hpp"
#include "sinter/layer/scale.hpp"
#include "sinter/layer/sinusoids.hpp"
#include "sinter/layer/swiglu.hpp"
#include "sinter/objective/class_weights.hpp"
#include "sinter/objective/label_smoothing.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {

inline constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};
inline constexpr LinearOptions without_bias{.layout = WeightLayout::out_in, .has_bias = false};

// The models take values of the given width. They have a linear layer for each operand of the layer
// under test, that layer, one more linear layer, and the mean squared error to targets.
inline constexpr int given_width = 3, target_width = 2;

template <int In, int Out>
struct Before {
  static constexpr Value<Out> trace(auto& g, Value<In> x) { return g("", Linear<In, Out>{}, x); }
};
struct After {
  template <int W>
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<target_width> target) {
    auto y = g("", Linear<W, target_width, as_torch>{}, x);
    return g("loss", MeanSquaredError<target_width>{}, y, target);
  }
};

/// A model around a unit with one result, whose `in` holds the widths of its one to three operands.
/// Its units are called a, b and c (the linear layers before), layer, and after.
template <class Unit>
struct Around {
  using slot = slot::model;
  static constexpr auto middle(auto& g, Value<given_width> x) {
    auto a = g.unit("a", Before<given_width, Unit::in[0]>{}, x);
    if constexpr (Unit::in.size() == 1) {
      return g.unit("layer", Unit{}, a);
    } else {
      auto b = g.unit("b", Before<given_width, Unit::in[1]>{}, x);
      if constexpr (Unit::in.size() == 2) {
        return g.unit("layer", Unit{}, a, b);
      } else {
        return g.unit("layer", Unit{}, a, b, g.unit("c", Before<given_width, Unit::in[2]>{}, x));
      }
    }
  }
  static constexpr void trace(auto& g) {
    auto y = middle(g, g.template values<given_width>());
    g.result(g.unit("after", After{}, y, g.template target_values<target_width>()));
  }
  static constexpr void predict(auto& g) { g.result(middle(g, g.template values<given_width>())); }
};

/// A unit of one layer.
template <class L>
struct Alone {
  static constexpr auto in = L::in;
  static constexpr auto trace(auto& g, auto... x) { return g("", L{}, x...); }
};

/// A unit that has the same layer twice on the same operands. In the backward phase one assigns
/// their gradients, and the other adds to them.
template <class L>
struct Doubled {
  static constexpr auto in = L::in;
  static constexpr auto trace(auto& g, auto... x) {
    auto first = g("", L{}, x...);
    auto again = g("again", L{}, x...);
    return g("sum", Add<L::out[0]>{}, first, again);
  }
};

/// Joins both results of the fused layer, so that each has a gradient of its own.
template <int W, class Fused = AddLayerNorm<W>>
struct AddThenNorm {
  static constexpr std::array in{W, W};
  static constexpr Value<W> trace(auto& g, Value<W> a, Value<W> b) {
    auto [h, n] = g("", Fused{}, a, b);
    return g("join", Add<W>{}, g("act", GeluTanh<W>{}, h), n);
  }
};
template <int W, class Fused = AddLayerNorm<W>>
struct AddThenNormDoubled {
  static constexpr std::array in{W, W};
  static constexpr Value<W> trace(auto& g, Value<W> a, Value<W> b) {
    auto [h, n] = g("", Fused{}, a, b);
    auto [h2, n2] = g("again", Fused{}, a, b);
    auto act = g("act", GeluTanh<W>{}, g("hs", Add<W>{}, h, h2));
    return g("sum", Add<W>{}, act, g("ns", Add<W>{}, n, n2));
  }
};
/// What the fused layer replaces.
template <int W, class Norm = LayerNorm<W>>
struct AddThenNormUnfused {
  static constexpr std::array in{W, W};
  static constexpr Value<W> trace(auto& g, Value<W> a, Value<W> b) {
    auto h = g("add", Add<W>{}, a, b);
    auto n = g("", Norm{}, h);
    return g("join", Add<W>{}, g("act", GeluTanh<W>{}, h), n);
  }
};

/// `lengths` makes two micro-batches of two sequences and one of one; it fills none of them.
inline constexpr int context = 5, micro = 2, global = 6;
inline const std::vector<int> lengths{5, 3, 1, 4, 2};

template <class Model, int Vocabulary = 0>
using Checked =
    Made<Model, UpTo<context, Vocabulary>, Fp64, Batch<{.global = global, .micro = micro}>>;

inline constexpr int wide = 10, heads = 2, positions = 7, vocabulary = 11;
inline constexpr float drop = .3f;

using InOutLinear = Linear<wide, 7>;
using OutInLinear = Linear<wide, 7, as_torch>;
using UnbiasedLinear = Linear<wide, 7, without_bias>;
using Norm = LayerNorm<wide>;
using Places = AddPosition<positions, wide>;
using OffsetPlaces = AddPosition<positions, wide, 2>;
using Scaled = Scale<wide, 2.5f>;
using CausalAttention = CausalSelfAttention<wide, heads>;
using CausalAttentionDropout = CausalSelfAttention<wide, heads, drop>;
/// All heads share one of keys and values.
using SharedAttention = CausalSelfAttention<wide, heads, 0.f, 1>;
using SharedAttentionDropout = CausalSelfAttention<wide, heads, drop, 1>;
/// Rows see themselves and the one before, or the two.
using WindowAttention = CausalSelfAttention<wide, heads, 0.f, heads, 2>;
using WindowAttentionDropout = CausalSelfAttention<wide, heads, drop, 1, 3>;
/// Heads of six numbers, two of queries and one of keys.
using Turned = Rotary<2, 1, 6, RotaryOptions{.theta = 50}>;
/// With a ramp of yarn within a head, and queries and keys that it makes longer.
using TurnedByYarn = Rotary<2, 1, 8,
                            RotaryOptions{.theta = 50,
                                          .scaling = RotaryScaling::yarn,
                                          .factor = 4,
                                          .original_positions = 64,
                                          .beta_fast = 8}>;
using FullAttention = SelfAttention<wide, heads>;
using FullAttentionDropout = SelfAttention<wide, heads, drop>;
/// On one axis.
using AttentionAcross = CrossAttention<wide, heads>;
using AttentionAcrossDropout = CrossAttention<wide, heads, drop>;
using Drop = Dropout<wide, drop>;
using Logits = Unembedding<vocabulary, wide>;
using BiasedLogits = UnembeddingBias<vocabulary, wide>;
using PostNorm = PostLayerNorm<wide, {.eps = 1e-3}>;

struct LookUp {
  static constexpr Value<wide> trace(auto& g, Ids ids) {
    return g("", Embedding<vocabulary, wide>{}, ids);
  }
};
struct EmbeddingModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto y = g.unit("layer", LookUp{}, g.tokens());
    g.result(g.unit("after", After{}, y, g.template target_values<target_width>()));
  }
  static constexpr void predict(auto& g) { g.result(g.unit("layer", LookUp{}, g.tokens())); }
};

/// Embeddings that are added: of ids, and of one id for all rows.
struct AddLooked {
  static constexpr Value<wide> trace(auto& g, Value<wide> x, Ids ids) {
    auto sum = g("", AddEmbedding<vocabulary, wide>{}, x, ids);
    return g("again", AddEmbedding<vocabulary, wide>{}, sum, ids);
  }
};
struct AddEmbeddingModel {
  using slot = slot::model;
  static constexpr Value<wide> middle(auto& g) {
    auto x = g.unit("a", Before<given_width, wide>{}, g.template values<given_width>());
    return g.unit("layer", AddLooked{}, x, g.tokens());
  }
  static constexpr void trace(auto& g) {
    auto y = middle(g);
    g.result(g.unit("after", After{}, y, g.template target_values<target_width>()));
  }
  static constexpr void predict(auto& g) { g.result(middle(g)); }
};

/// A loss whose weight is that of an embedding, and whose bias is its own.
struct TiedBiasLoss {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Ids targets) {
    using Loss = LinearBiasCrossEntropy<vocabulary, wide>;
    return g.tied_weight("head", "", Loss{}, g("act", Tanh<wide>{}, x), targets);
  }
};
struct TiedBiasLogits {
  static constexpr Value<vocabulary> trace(auto& g, Value<wide> x) {
    return g.tied_weight("head", "", BiasedLogits{}, g("act", Tanh<wide>{}, x));
  }
};
struct TiedBiasModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto x = g.unit("layer", LookUp{}, tokens);
    g.result(g.tied_unit("after", x, TiedBiasLoss{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto x = g.unit("layer", LookUp{}, g.tokens());
    g.result(g.tied_unit("after", x, TiedBiasLogits{}, x));
  }
};

struct TableLoss {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Ids targets) {
    return g("", LinearCrossEntropy<vocabulary, wide>{}, x, targets);
  }
};
struct BiasedTableLoss {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Ids targets) {
    return g("", LinearBiasCrossEntropy<vocabulary, wide>{}, x, targets);
  }
};
struct ClassLoss {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Ids classes) {
    return g("", CrossEntropy<wide>{}, x, classes);
  }
};
/// Has the loss `Times` times, once or twice, on the same operands.
template <int Times, class Loss = TableLoss>
struct CrossEntropyModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("a", Before<given_width, wide>{}, g.template values<given_width>());
    auto targets = g.targets();
    g.result(g.unit("layer", Loss{}, x, targets));
    if constexpr (Times == 2) g.result(g.unit("again", Loss{}, x, targets));
  }
};

/// Weights of so many classes.
template <int Classes>
using SomeWeights =
    std::conditional_t<Classes == wide, ClassWeights<1, .5, 2, 0, 3, 1, 1, 4, .25, 1>,
                       ClassWeights<1, .5, 2, 0, 3, 1, 1, 4, .25, 1, 7>>;
static_assert(wide == 10 && vocabulary == 11);
/// A model of the loss once, which smooths labels and weighs classes.
template <class Model, int Classes>
using Reshaped =
    Made<Model, UpTo<context, Classes>, Fp64, Batch<{.global = global, .micro = micro}>,
         LabelSmoothing<{.factor = .1}>, SomeWeights<Classes>>;

struct SquaredError {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Value<wide> y) {
    return g("loss", MeanSquaredError<wide>{}, x, y);
  }
};
/// The loss is there three times, and both of its operands depend on parameters.
struct SquaredErrorModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto in = g.template values<given_width>();
    auto x = g.unit("x", Before<given_width, wide>{}, in);
    auto y = g.unit("y", Before<given_width, wide>{}, in);
    g.template target_values<target_width>();  // the loss is divided by the number of targets
    g.result(g.unit("first", SquaredError{}, x, y));
    g.result(g.unit("second", SquaredError{}, g.unit("z", Before<wide, wide>{}, x), y));
    g.result(g.unit("third", SquaredError{}, x, y));
  }
};

struct Answers {
  static constexpr Value<1> trace(auto& g, Value<wide> x, Value<wide> y) {
    return g("loss", BinaryCrossEntropy<wide>{}, x, y);
  }
};
/// The loss of `wide` answers by data, and of others that depend on parameters.
struct BinaryCrossEntropyModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto in = g.template values<given_width>();
    auto x = g.unit("x", Before<given_width, wide>{}, in);
    auto y = g.unit("y", Before<given_width, wide>{}, in);
    auto targets = g.template target_values<wide>();
    g.result(g.unit("first", Answers{}, x, targets));
    g.result(g.unit("second", Answers{}, x, y));
  }
};

/// Σ x² over the width, a loss without targets for values that have one row per sequence.
template <int W>
struct SumOfSquares {
  static constexpr std::array in{W};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static void forward(auto& c) { losses(c.x(), c.y()); }
  static void backward(auto& c) {
    auto x = c.saved.x, dx = c.dx();
    losses(x, c.y());
    for (int r = 0; r < x.rows; ++r)
      for (int k = 0; k < W; ++k) dx.put(r, k, 2 * c.loss_weight() * x(r, k));
  }

 private:
  static void losses(auto x, auto y) {
    for (int r = 0; r < x.rows; ++r) {
      y(r, 0) = 0;
      for (int k = 0; k < W; ++k) y(r, 0) += x(r, k) * x(r, k);
    }
  }
};
/// Takes rows that are one per sequence through more layers to a loss.
struct PooledLoss {
  static constexpr Value<1> trace(auto& g, Value<wide> x) {
    auto n = g("norm", LayerNorm<wide>{}, x);
    return g("loss", SumOfSquares<target_width>{}, g("", Linear<wide, target_width>{}, n));
  }
};
template <class Pool>
struct PooledModel {
  using slot = slot::model;
  static constexpr Value<wide> pooled(auto& g) {
    auto x = g.unit("a", Before<given_width, wide>{}, g.template values<given_width>());
    return g.unit("layer", Pool{}, x);
  }
  static constexpr void trace(auto& g) {
    auto y = pooled(g);
    g.template target_values<1>();  // the loss is divided by the number of targets
    g.result(g.unit("after", PooledLoss{}, y));
  }
  static constexpr void predict(auto& g) { g.result(pooled(g)); }
};

}  // namespace sinter::detail::testing
