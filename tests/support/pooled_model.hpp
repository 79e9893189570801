// SPDX-License-Identifier: Apache-2.0
// The smallest model of one class for each sequence of bytes.
#pragma once
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/policy/slots.hpp"

namespace sinter::detail::testing {

template <int Classes>
struct Pooled {
  using slot = sinter::slot::model;

  struct Embed {
    static constexpr Value<8> trace(auto& g, Ids tokens) {
      return g("table", Embedding<258, 8>{}, tokens);
    }
  };
  struct Head {
    static constexpr Value<1> trace(auto& g, Value<8> x, Ids classes) {
      auto logits = g("logits", Linear<8, Classes>{}, g("first", FirstRow<8>{}, x));
      return g("loss", CrossEntropy<Classes>{}, logits, classes);
    }
  };
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed{}, g.tokens());
    g.result(g.unit("head", Head{}, x, g.targets(pooled(0))));
  }
};

}  // namespace sinter::detail::testing
