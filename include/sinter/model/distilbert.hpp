// SPDX-License-Identifier: Apache-2.0
// DistilBERT (Sanh et al. 2019).
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/concat.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/bert_rules.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/label_loss.hpp"
#include "sinter/model/optional_dropout.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Options of DistilBert. The defaults are DistilBERT base, uncased.
struct DistilBertOptions {
  int layers = 6;          ///< transformer blocks
  int heads = 12;          ///< attention heads in each block; must divide the width
  int width = 768;         ///< features of a row of activations
  int hidden = 3072;       ///< features of a row inside the perceptron of a block
  int vocabulary = 30522;  ///< ids are in [0, vocabulary)
  int positions = 512;     ///< rows of the longest sequence, each with a learned embedding
  /// Classes that are told apart, or numbers that are predicted; 0 predicts masked tokens instead.
  int labels = 0;
  LabelKind label_kind = LabelKind::one_class;  ///< what `labels` are of
  double dropout = 0.1;  ///< dropout probability of embeddings, attention and perceptrons
  double classifier_dropout = 0.2;  ///< dropout probability before a classifier of sequences
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (width).at_least(1),
                (hidden).at_least(1), (vocabulary).at_least(1), (positions).at_least(1),
                (labels).at_least(0), (label_kind), (dropout).at_least(0).below(1),
                (classifier_dropout).at_least(0).below(1))
};

namespace detail {
namespace distilbert {

/// A matrix in torch.nn's layout, out × in.
inline constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};
/// A matrix that produces logits, also out × in.
inline constexpr LinearOptions classifying{.layout = WeightLayout::out_in, .hidden = false};
/// Options of all layer norms.
inline constexpr LayerNormOptions norms{.eps = 1e-12};

/// The embeddings of tokens and positions, then a layer norm and dropout.
template <DistilBertOptions O, int W = O.width>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    auto x = g("word_embeddings", Embedding<O.vocabulary, W>{}, tokens);
    auto placed = g("position_embeddings", AddPosition<O.positions, W>{}, x);
    auto n = g("LayerNorm", LayerNorm<W, norms>{}, placed);
    return optional_dropout<W, float(O.dropout)>(g, "dropout", n);
  }
};

/// BERT's block, without dropout after attention's output projection.
template <DistilBertOptions O, int W = O.width>
struct Block {
  static constexpr float P = float(O.dropout);  ///< dropout probability

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto q = g("attention.q_lin", Linear<W, W, as_torch>{}, x);
    auto k = g("attention.k_lin", Linear<W, W, as_torch>{}, x);
    auto v = g("attention.v_lin", Linear<W, W, as_torch>{}, x);
    auto qkv = g("attention.qkv", Concat<W, W, W>{}, q, k, v);
    return attended(g, g("attention", SelfAttention<W, O.heads, P>{}, qkv), x);
  }
  /// The rest of the block after attention. `mixed`: output of attention, x: the block's input.
  static constexpr Value<W> attended(auto& g, Value<W> mixed, Value<W> x) {
    auto attended = g("attention.out_lin", Linear<W, W, as_torch>{}, mixed);
    auto h = g("sa_layer_norm", PostLayerNorm<W, norms>{}, attended, x);
    auto wide =
        g("ffn.act", GeluErf<O.hidden>{}, g("ffn.lin1", Linear<W, O.hidden, as_torch>{}, h));
    auto narrow = g("ffn.lin2", Linear<O.hidden, W, as_torch>{}, wide);
    auto kept = optional_dropout<W, P>(g, "ffn.dropout", narrow);
    return g("output_layer_norm", PostLayerNorm<W, norms>{}, kept, h);
  }
};

/// The last block where only the first row of each sequence is read, with the parameters of Block.
/// Keys and values are of all rows; everything else is computed for the first rows only.
template <DistilBertOptions O, int W = O.width>
struct FirstRowBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    using Attention = CrossAttention<W, O.heads, Block<O>::P>;
    auto first = g("first", FirstRow<W>{}, x);
    auto q = g("attention.q_lin", Linear<W, W, as_torch>{}, first);
    auto k = g("attention.k_lin", Linear<W, W, as_torch>{}, x);
    auto v = g("attention.v_lin", Linear<W, W, as_torch>{}, x);
    auto kv = g("attention.kv", Concat<W, W>{}, k, v);
    return Block<O>::attended(g, g("attention", Attention{}, q, kv), first);
  }
};

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <DistilBertOptions O, int W = O.width>
constexpr Value<W> transformed(auto& g, Value<W> x) {
  auto dense = g("vocab_transform", Linear<W, W, as_torch>{}, x);
  return g("vocab_layer_norm", LayerNorm<W, norms>{}, g("vocab_act", GeluErf<W>{}, dense));
}
/// The loss of masked tokens. The logits share the embedding's table but have a bias of their own.
template <DistilBertOptions O, int W = O.width>
struct HiddenTokensLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    using Loss = LinearBiasCrossEntropy<O.vocabulary, W>;
    return g.tied_weight("vocab_projector", "word_embeddings", Loss{}, transformed<O>(g, x),
                         targets);
  }
};
/// The logits of the token in each row.
template <DistilBertOptions O, int W = O.width>
struct TokenLogits {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    using Logits = UnembeddingBias<O.vocabulary, W>;
    return g.tied_weight("vocab_projector", "word_embeddings", Logits{}, transformed<O>(g, x));
  }
};

/// The logits of classes, or the numbers, of each sequence by its first row, [CLS], or of each
/// token.
template <DistilBertOptions O, int W = O.width>
struct Classifier {
  static constexpr Value<O.labels> trace(auto& g, Value<W> x) {
    if constexpr (reads_first_row(O)) {
      return of_first_row(g, x);
    } else {
      auto kept = optional_dropout<W, float(O.dropout)>(g, "dropout", x);
      return g("classifier", Linear<W, O.labels, classifying>{}, kept);
    }
  }

 private:
  static constexpr Value<O.labels> of_first_row(auto& g, Value<W> x) {
    auto known = g("act", Relu<W>{}, g("pre_classifier", Linear<W, W, as_torch>{}, x));
    auto kept = optional_dropout<W, float(O.classifier_dropout)>(g, "dropout", known);
    return g("classifier", Linear<W, O.labels, classifying>{}, kept);
  }
};
/// The loss of each sequence's label, or each token's.
template <DistilBertOptions O, int W = O.width>
struct ClassifierLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, auto labels) {
    return label_loss<O>(g, Classifier<O>::trace(g, x), labels);
  }
};

/// The files of DistilBertForMaskedLM, DistilBertForSequenceClassification or
/// DistilBertForTokenClassification. `master_bytes`: bytes of one master weight.
HuggingFace files_of(const DistilBertOptions& o, std::size_t master_bytes);

}  // namespace distilbert
}  // namespace detail

/// DistilBERT: BERT with half of the layers, without token types and without a pooler. Names and
/// initial values are Hugging Face's. Without `labels` it predicts masked tokens
/// (DistilBertForMaskedLM; use the objective MaskedLm). With `labels` it predicts the class,
/// several classes or numbers of each sequence from its first row
/// (DistilBertForSequenceClassification), or the class of each token
/// (DistilBertForTokenClassification), as `label_kind` says. It trains as any other model, without
/// a teacher. A prediction is the logits of each row, or the logits or numbers of each sequence.
template <DistilBertOptions O = {}>
struct DistilBert {
  using slot = slot::model;
  using Options = DistilBertOptions;
  using rules = detail::bert::Rules;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto embedded = embed(g);
    if constexpr (O.labels > 0) {
      auto labels = detail::label_targets<O>(g);
      auto x = blocks(g, embedded);
      g.result(g.unit("", detail::distilbert::ClassifierLoss<O>{}, x, labels));
    } else {
      auto targets = g.targets();
      auto x = blocks(g, embedded);
      g.result(g.tied_unit("", embedded, detail::distilbert::HiddenTokensLoss<O>{}, x, targets));
    }
  }
  static constexpr void predict(auto& g) {
    auto embedded = embed(g);
    auto x = blocks(g, embedded);
    if constexpr (O.labels > 0) {
      g.result(g.unit("", detail::distilbert::Classifier<O>{}, x));
    } else {
      g.result(g.tied_unit("", embedded, detail::distilbert::TokenLogits<O>{}, x));
    }
  }
  /// The files of DistilBertForMaskedLM, DistilBertForSequenceClassification or
  /// DistilBertForTokenClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::distilbert::files_of(options, sizeof(typename R::precision::master));
  }

 private:
  static constexpr Value<O.width> embed(auto& g) {
    return g.unit("distilbert.embeddings", detail::distilbert::Embed<O>{}, g.tokens());
  }
  /// The output of the blocks: all rows, or the first row of each sequence.
  static constexpr Value<O.width> blocks(auto& g, Value<O.width> x) {
    constexpr auto name = "distilbert.transformer.layer";
    if constexpr (detail::reads_first_row(O)) {
      using Last = detail::distilbert::FirstRowBlock<O>;
      return g.repeat_with_last(O.layers, name, detail::distilbert::Block<O>{}, Last{}, x);
    } else {
      return g.repeat(O.layers, name, detail::distilbert::Block<O>{}, x);
    }
  }
};

}  // namespace sinter
