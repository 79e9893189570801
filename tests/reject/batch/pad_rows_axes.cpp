// SPDX-License-Identifier: Apache-2.0
// Must not compile: PadRows: the model has an input on axis 1
#include "sinter/batch/pad_rows.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Head {
  static constexpr Value<1> trace(auto& g, Value<4> x, Ids classes) {
    return g("loss", CrossEntropy<4>{}, x, classes);
  }
};
struct Table {
  static constexpr Value<4> trace(auto& g, Ids tokens) { return g("", Embedding<8, 4>{}, tokens); }
};
struct model {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(1), classes = g.targets(1);
    g.result(g.unit("head", Head{}, g.unit("table", Table{}, tokens), classes));
  }
};
struct data {
  using slot = slot::data;
  static constexpr int context = 64, vocabulary = 8;
};
struct mine : Recipe<model, data, PadRows<>> {};
constexpr bool checked = ready<mine>();
