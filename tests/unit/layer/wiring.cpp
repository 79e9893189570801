// SPDX-License-Identifier: Apache-2.0
// Gradients by the way that values take: layers on the model's own inputs, values that are read
// more than once, units with several results.
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/layer_models.hpp"

namespace sinter::detail::testing {
namespace {

template <class Model>
void check(int in = given_width) {
  expect_right_gradients<Checked<Model>>(regression_batch(lengths, in, target_width, 1));
}

/// Every layer with an operand that gets no gradient.
struct OnInputs {
  static constexpr Value<1> trace(auto& g, Value<3 * wide> x, Value<target_width> target) {
    auto mixed = g("attn", CausalSelfAttention<3 * wide / 3, heads>{}, x);
    auto full = g("full", SelfAttention<wide, heads>{}, x);
    auto norm = g("norm", LayerNorm<3 * wide>{}, x);
    auto placed = g("wpe", AddPosition<positions, 3 * wide>{}, x);
    auto tanh = g("tanh", GeluTanh<3 * wide>{}, x);
    auto dropped = g("drop", Dropout<3 * wide, drop>{}, x);
    auto logits = g("unembed", Unembedding<3 * wide, 3 * wide>{}, x);
    auto sum = g("sum", Add<3 * wide>{}, norm, placed);
    auto half = g("half", Add<3 * wide>{}, x, tanh);
    auto [h, n] = g("half_norm", AddLayerNorm<3 * wide>{}, half, x);
    auto [h2, n2] = g("norm_half", AddLayerNorm<3 * wide>{}, dropped, x);
    auto [h3, n3] = g("half_rms", AddRmsNorm<3 * wide>{}, half, x);
    auto [h4, n4] = g("rms_half", AddRmsNorm<3 * wide>{}, dropped, x);
    auto rms = g("hn4", Add<3 * wide>{}, g("hn3", Add<3 * wide>{}, h3, n3), n4);
    auto both = g("both", Add<3 * wide>{}, sum, g("rms", Add<3 * wide>{}, rms, h4));
    auto with = g("with_rms", Add<3 * wide>{}, both, g("rms_x", RmsNorm<3 * wide>{}, x));
    auto gated = g("gated", SwiGlu<3 * wide / 2>{}, x);
    auto half_wide = g("half_wide", Linear<3 * wide / 2, wide>{}, gated);
    auto all = g("all", Add<3 * wide>{}, g("hn", Add<3 * wide>{}, h, n), with);
    auto more = g("more", Add<3 * wide>{}, g("hn2", Add<3 * wide>{}, h2, n2), logits);
    auto a = g("a", Linear<3 * wide, wide>{}, g("join", Add<3 * wide>{}, all, more));
    auto b = g("b", Linear<3 * wide, wide>{}, x);
    auto ab = g("ab", Add<wide>{}, g("ag", Add<wide>{}, a, half_wide), b);
    auto y = g(
        "y", Linear<wide, target_width>{},
        g("act", GeluErf<wide>{}, g("with", Add<wide>{}, g("seen", Add<wide>{}, mixed, full), ab)));
    return g("loss", MeanSquaredError<target_width>{}, y, target);
  }
};
struct OnInputsModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<3 * wide>();
    g.result(g.unit("all", OnInputs{}, x, g.template target_values<target_width>()));
  }
};
TEST_CASE("gradients are right of layers whose operand gets no gradient") {
  check<OnInputsModel>(3 * wide);
}

/// One value as both operands.
struct Twice {
  static constexpr std::array in{wide};
  static constexpr Value<wide> trace(auto& g, Value<wide> x) {
    auto [h, n] = g("norm", AddLayerNorm<wide>{}, x, x);
    auto act = g("act", GeluTanh<wide>{}, h);
    return g("sum", Add<wide>{}, g("double", Add<wide>{}, n, n), act);
  }
};
TEST_CASE("gradients are right of a layer with the same value as both operands") {
  check<Around<Twice>>();
}

/// Results that are read inside as well, by layers before and after the other result.
struct Several {
  static constexpr std::tuple<Value<wide>, Value<wide>, Value<wide>> trace(auto& g, Value<wide> x) {
    auto a = g("a", Linear<wide, wide>{}, x);
    auto b = g("b", GeluTanh<wide>{}, a);
    auto c = g("c", LayerNorm<wide>{}, g("ab", Add<wide>{}, a, b));
    return {c, a, b};
  }
};
struct Joined {
  static constexpr Value<wide> trace(auto& g, Value<wide> x, Value<wide> a, Value<wide> b,
                                     Value<wide> c) {
    auto [h, n] = g("norm", AddLayerNorm<wide>{}, a, c);
    return g("sum", Add<wide>{}, g("xb", Add<wide>{}, x, b), g("hn", Add<wide>{}, h, n));
  }
};
/// Values that several units read, some across others.
struct SeveralModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("x", Before<given_width, wide>{}, g.template values<given_width>());
    auto [c, a, b] = g.unit("first", Several{}, x);
    auto [f, d, e] = g.unit("second", Several{}, b);
    auto y = g.unit("joined", Joined{}, x, a, c, d);
    auto z = g.unit("again", Joined{}, f, y, e, a);
    g.result(g.unit("after", After{}, z, g.template target_values<target_width>()));
  }
};
TEST_CASE("gradients are right of units with several results, read by several units") {
  check<SeveralModel>();
}

/// Two losses of one step, of units that share a value.
struct TwoLossesModel {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("x", Before<given_width, wide>{}, g.template values<given_width>());
    auto target = g.template target_values<target_width>();
    g.result(g.unit("first", After{}, x, target));
    auto y = g.unit("y", Alone<LayerNorm<wide>>{}, x);
    g.result(g.unit("second", After{}, y, target));
  }
};
TEST_CASE("gradients are right of a model with two losses") { check<TwoLossesModel>(); }

}  // namespace
}  // namespace sinter::detail::testing
