// SPDX-License-Identifier: Apache-2.0
// The smallest model that reads a text on axis 1 and predicts the reply to it on axis 0.
#pragma once
#include "support/axes_models.hpp"

namespace sinter::detail::testing {

template <int Vocabulary, int W = 8>
struct Replier {
  using slot = sinter::slot::model;

  struct Embed {
    static constexpr Value<W> trace(auto& g, Ids tokens) {
      return g("table", Embedding<Vocabulary, W>{}, tokens);
    }
  };
  struct Mix {
    static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> source) {
      return g("mix", AddMeanOfRows<W>{}, x, g("linear", Linear<W, W>{}, source));
    }
  };
  struct Logits {
    static constexpr Value<Vocabulary> trace(auto& g, Value<W> x) {
      return g("logits", Linear<W, Vocabulary>{}, x);
    }
  };
  struct Head {
    static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
      return g("loss", CrossEntropy<Vocabulary>{}, Logits::trace(g, x), targets);
    }
  };
  static constexpr void trace(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0), targets = g.targets(0);
    g.result(g.unit("head", Head{}, mixed(g, source, said), targets));
  }
  static constexpr void predict(auto& g) {
    auto source = g.tokens(1), said = g.tokens(0);
    g.result(g.unit("head", Logits{}, mixed(g, source, said)));
  }

 private:
  static constexpr Value<W> mixed(auto& g, Ids source, Ids said) {
    auto x = g.unit("decoder", Embed{}, said), y = g.unit("encoder", Embed{}, source);
    return g.unit("mix", Mix{}, x, y);
  }
};

}  // namespace sinter::detail::testing
