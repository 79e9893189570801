// SPDX-License-Identifier: Apache-2.0
// DistilBERT (Sanh et al. 2019).
#pragma once
#include "sinter/layer/activation.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/bert_rules.hpp"
#include "sinter/model/encoder.hpp"
#include "sinter/model/optional_dropout.hpp"

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

using encoder::as_torch, encoder::classifying;
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
struct BlockParts {
  static constexpr float P = float(O.dropout);  ///< dropout probability
  static constexpr encoder::AttentionNames names{"attention",       "attention.q_lin",
                                                 "attention.k_lin", "attention.v_lin",
                                                 "attention.qkv",   "attention.kv"};

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

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <DistilBertOptions O, int W = O.width>
struct Transform {
  static constexpr const char* logits = "vocab_projector";  ///< the name of the logits

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto dense = g("vocab_transform", Linear<W, W, as_torch>{}, x);
    return g("vocab_layer_norm", LayerNorm<W, norms>{}, g("vocab_act", GeluErf<W>{}, dense));
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
/// The units of DistilBert.
template <DistilBertOptions O, int W = O.width>
struct Units {
  using Block = BlockParts<O>;
  using Transform = distilbert::Transform<O>;
  using Classifier = distilbert::Classifier<O>;
  static constexpr auto blocks = "distilbert.transformer.layer", tokens = "", classifier = "";

  static constexpr Value<W> embed(auto& g) {
    return g.unit("distilbert.embeddings", Embed<O>{}, g.tokens());
  }
  static constexpr Value<W> pooled(auto&, Value<W> x) { return x; }
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
struct DistilBert : detail::encoder::Model<O, detail::distilbert::Units<O>> {
  using slot = slot::model;
  using Options = DistilBertOptions;
  using rules = detail::bert::Rules;
  static constexpr Options options = O;

  /// The files of DistilBertForMaskedLM, DistilBertForSequenceClassification or
  /// DistilBertForTokenClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::distilbert::files_of(options, sizeof(typename R::precision::master));
  }
};

}  // namespace sinter
