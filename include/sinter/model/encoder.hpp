// SPDX-License-Identifier: Apache-2.0
// What Bert, DistilBert and Roberta share: encoders that predict hidden tokens or labels.
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/concat.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/label_loss.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter::detail::encoder {

/// A matrix in torch.nn's layout, out × in.
inline constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};
/// A matrix that produces logits, also out × in.
inline constexpr LinearOptions classifying{.layout = WeightLayout::out_in, .hidden = false};

/// Names of attention in a block: of its node, of the matrices before it, and of their joined rows.
struct AttentionNames {
  const char *attention, *query, *key, *value, *joined, *joined_keys;
};

/// A transformer block that attends in both directions. Parts has `names` of attention, its dropout
/// probability P, and attended(g, mixed, x), the rest of the block after attention.
template <auto O, class Parts, int W = O.width>
struct Block {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto q = g(Parts::names.query, Linear<W, W, as_torch>{}, x);
    auto k = g(Parts::names.key, Linear<W, W, as_torch>{}, x);
    auto v = g(Parts::names.value, Linear<W, W, as_torch>{}, x);
    auto qkv = g(Parts::names.joined, Concat<W, W, W>{}, q, k, v);
    using Attention = SelfAttention<W, O.heads, Parts::P>;
    return Parts::attended(g, g(Parts::names.attention, Attention{}, qkv), x);
  }
};
/// The last block where only the first row of each sequence is read, with the parameters of Block.
/// Keys and values are of all rows; everything else is computed for the first rows only.
template <auto O, class Parts, int W = O.width>
struct FirstRowBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    using Attention = CrossAttention<W, O.heads, Parts::P>;
    auto first = g("first", FirstRow<W>{}, x);
    auto q = g(Parts::names.query, Linear<W, W, as_torch>{}, first);
    auto k = g(Parts::names.key, Linear<W, W, as_torch>{}, x);
    auto v = g(Parts::names.value, Linear<W, W, as_torch>{}, x);
    auto kv = g(Parts::names.joined_keys, Concat<W, W>{}, k, v);
    return Parts::attended(g, g(Parts::names.attention, Attention{}, q, kv), first);
  }
};

/// The loss of masked tokens. The logits share the embedding's table but have a bias of their own.
/// Transform is what precedes the logits, and Transform::logits their name.
template <auto O, class Transform, int W = O.width>
struct HiddenTokensLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    using Loss = LinearBiasCrossEntropy<O.vocabulary, W>;
    return g.tied_weight(Transform::logits, "word_embeddings", Loss{}, Transform::trace(g, x),
                         targets);
  }
};
/// The logits of the token in each row.
template <auto O, class Transform, int W = O.width>
struct TokenLogits {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    using Logits = UnembeddingBias<O.vocabulary, W>;
    return g.tied_weight(Transform::logits, "word_embeddings", Logits{}, Transform::trace(g, x));
  }
};
/// The loss of each sequence's label, or each token's.
template <auto O, class Classifier, int W = O.width>
struct ClassifierLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, auto labels) {
    return label_loss<O>(g, Classifier::trace(g, x), labels);
  }
};

/// The traces of a model, of units that Units says:
///   embed(g)        traces the unit of the embeddings
///   blocks, Block   the name of the blocks, and the Parts of an encoder::Block
///   pooled(g, x)    turns first rows into the classifier's input
///   classifier, Classifier   the name of the last unit if there are labels, and its logits
///   tokens, Transform        its name if there are none, and what precedes its logits
template <auto O, class Units, int W = O.width>
struct Model {
  static constexpr void trace(auto& g) {
    auto embedded = Units::embed(g);
    if constexpr (O.labels > 0) {
      auto labels = label_targets<O>(g);
      using Loss = ClassifierLoss<O, typename Units::Classifier>;
      g.result(g.unit(Units::classifier, Loss{}, read(g, embedded), labels));
    } else {
      auto targets = g.targets();
      using Loss = HiddenTokensLoss<O, typename Units::Transform>;
      g.result(g.tied_unit(Units::tokens, embedded, Loss{}, read(g, embedded), targets));
    }
  }
  static constexpr void predict(auto& g) {
    auto embedded = Units::embed(g);
    auto x = read(g, embedded);
    if constexpr (O.labels > 0) {
      g.result(g.unit(Units::classifier, typename Units::Classifier{}, x));
    } else {
      using Logits = TokenLogits<O, typename Units::Transform>;
      g.result(g.tied_unit(Units::tokens, embedded, Logits{}, x));
    }
  }

 private:
  /// The output of the blocks: all rows, or of the first row of each sequence what is told from it.
  static constexpr Value<W> read(auto& g, Value<W> x) {
    using Parts = typename Units::Block;
    if constexpr (reads_first_row(O)) {
      return Units::pooled(g, g.repeat_with_last(O.layers, Units::blocks, Block<O, Parts>{},
                                                 FirstRowBlock<O, Parts>{}, x));
    } else {
      return g.repeat(O.layers, Units::blocks, Block<O, Parts>{}, x);
    }
  }
};

}  // namespace sinter::detail::encoder
