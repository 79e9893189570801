// SPDX-License-Identifier: Apache-2.0
#include "sinter/batch/pad_rows.hpp"
#include "sinter/batch/scaled_rate.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/unplanned_layer.hpp"
using namespace sinter;

// Must not compile (quick), batch: Batch: micro × ranks does not divide global
struct mine : Recipe<Mlp<>, Batch<{.global = 10, .micro = 4}>> {};

// Must not compile, pad_rows_axes: PadRows: the model has an input on axis 1
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

// Must not compile, pad_rows_context: PadRows: the context is no multiple of `multiple`
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 20}>, PadRows<{.multiple = 8}>> {};

// Must not compile, pad_rows_numbers: PadRows: a target of this model is numbers
struct Eights {
  using slot = slot::data;
  static constexpr int context = 8, vocabulary = 0;
};
struct mine : Recipe<Mlp<>, Eights, PadRows<>> {};

// Must not compile, pad_rows_unplanned: PadRows: a layer of this model computes outside of Sinter
struct Head {
  static constexpr Value<1> trace(auto& g, Value<8> x, Ids classes) {
    auto y = g("square", detail::testing::Square<8>{}, g("fc", Linear<8, 8>{}, x));
    return g("loss", CrossEntropy<8>{}, y, classes);
  }
};
struct Squares {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    g.result(g.unit("head", Head{}, g.template values<8>(), g.targets()));
  }
};
struct mine : Recipe<Squares, PadRows<{.multiple = 1}>> {};

// Must not compile, ranks: Batch: micro × ranks does not divide global
struct mine : Recipe<Mlp<>, Batch<{.global = 8, .micro = 8}>, Ddp<{.ranks = 2}>> {};

// Must not compile (quick), scaled_rate_base: Sinter: an option of a policy is outside its range
// and: ScaledRate< and: {"base"} and: {"at least 1"}
struct mine : Recipe<Mlp<>, ScaledRate<{.base = 0}>> {};
