// SPDX-License-Identifier: Apache-2.0
// Must not compile: LabelledText: an objective with labels
#include "sinter/data/labelled_text.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

struct Embed {
  static constexpr Value<8> trace(auto& g, Ids tokens) {
    return g("table", Embedding<258, 8>{}, tokens);
  }
};
struct Head {
  static constexpr Value<1> trace(auto& g, Value<8> x, Ids classes) {
    auto logits = g("logits", Linear<8, 2>{}, g("first", FirstRow<8>{}, x));
    return g("loss", CrossEntropy<2>{}, logits, classes);
  }
};
struct Pooled {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed{}, g.tokens());
    g.result(g.unit("head", Head{}, x, g.targets(pooled(0))));
  }
};

struct mine : Recipe<Pooled, LabelledText<"label", "text">, MaskedLm<{.mask = 257}>> {};
constexpr bool checked = ready<mine>();
