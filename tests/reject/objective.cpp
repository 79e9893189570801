// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/objective/masked_lm.hpp"
#include "sinter/recipe/plan.hpp"
using namespace sinter;

// Must not compile, causal: MaskedLm: the model has causal attention
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 257}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, mask_beyond: MaskedLm: the mask is not in the model's vocabulary
struct mine : Recipe<Gpt2<{.layers = 1, .heads = 1, .width = 8, .vocabulary = 256}>,
                     Bytes<{.context = 16}>, MaskedLm<{.mask = 256}>> {};

// Must not compile, no_tokens: MaskedLm: the data have no tokens
struct mine : Recipe<Mlp<>, MaskedLm<>> {};

// Must not compile (quick), seen: The model sees the token that it is to predict
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
