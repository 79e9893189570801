// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/objective/class_weights.hpp"
#include "sinter/objective/label_smoothing.hpp"
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

// Must not compile, smoothing_of_numbers: LabelSmoothing: the model has no cross-entropy of ids
struct mine : Recipe<Mlp<>, LabelSmoothing<>> {};

// Must not compile, smoothing_range: Sinter: an option of a policy is outside its range
// and: {"factor"} and: {"at least 0 and below 1"}
struct mine : Recipe<Mlp<{.out = 2, .classifier = true}>, LabelSmoothing<{.factor = 1}>> {};

// Must not compile, smoothing_negative: Sinter: an option of a policy is outside its range
// and: {"factor"} and: {"at least 0 and below 1"}
struct mine : Recipe<Mlp<{.out = 2, .classifier = true}>, LabelSmoothing<{.factor = -.1}>> {};

// Must not compile, weights_count: ClassWeights: there is not one weight for each class
struct mine : Recipe<Mlp<{.out = 3, .classifier = true}>, ClassWeights<1, 4.5>> {};

// Must not compile, weights_of_numbers: ClassWeights: there is not one weight for each class
struct mine : Recipe<Mlp<{.out = 2}>, ClassWeights<1, 4.5>> {};

// Must not compile, weight_negative: ClassWeights: a weight is negative, not finite or no number
struct mine : Recipe<Mlp<{.out = 2, .classifier = true}>, ClassWeights<1, -4.5>> {};

// Must not compile, weights_zero: ClassWeights: a weight is negative, not finite or no number
struct mine : Recipe<Mlp<{.out = 2, .classifier = true}>, ClassWeights<0, 0>> {};

// Must not compile, weights_none: ClassWeights: a weight is negative, not finite or no number
struct mine : Recipe<Mlp<{.out = 2, .classifier = true}>, ClassWeights<>> {};
