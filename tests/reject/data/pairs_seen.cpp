// SPDX-License-Identifier: Apache-2.0
// Must not compile: The model sees the token that it is to predict
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/axes_models.hpp"
using namespace sinter;

constexpr int W = 8;
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    return g("table", Embedding<258, W>{}, tokens);
  }
};
struct Guess {
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<W> source, Ids targets) {
    auto seen = g("see", SelfAttention<W, 2>{}, g("qkv", Linear<W, 3 * W>{}, x));
    auto mixed = g("mix", sinter::testing::AddMeanOfRows<W>{}, seen, source);
    return g("head", LinearCrossEntropy<258, W>{}, mixed, targets);
  }
};
struct model {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0), targets = g.targets(0);
    auto x = g.unit("decoder", Embed{}, said), y = g.unit("encoder", Embed{}, source);
    g.result(g.unit("guess", Guess{}, x, y, targets));
  }
};
struct mine : Recipe<model, DialoguePairs<{.text = 8, .label = 8}>> {};
constexpr bool checked = ready<mine>();
