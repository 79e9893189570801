// SPDX-License-Identifier: Apache-2.0
// Must not compile: The model sees the token that it is to predict
#include "sinter/data/bytes.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

struct Guess {
  static constexpr Value<1> trace(auto& g, Ids tokens, Ids targets) {
    auto x = g("qkv", Linear<8, 24>{}, g("wte", Embedding<256, 8>{}, tokens));
    return g("head", LinearCrossEntropy<256, 8>{}, g("mix", SelfAttention<8, 2>{}, x), targets);
  }
};
struct Encoder {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    g.result(g.unit("guess", Guess{}, tokens, targets));
  }
};
struct mine : Recipe<Encoder, Bytes<{.context = 16}>> {};
constexpr bool checked = ready<mine>();
