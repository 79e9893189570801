// SPDX-License-Identifier: Apache-2.0
// RoBERTa (Liu et al. 2019).
#pragma once
#include "sinter/layer/activation.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/encoder.hpp"
#include "sinter/model/optional_dropout.hpp"
#include "sinter/model/roberta_rules.hpp"

namespace sinter {

/// Options of Roberta. The defaults are RoBERTa base; RoBERTa large has 24 layers, 16 heads, a
/// width of 1024 and 4096 hidden features.
struct RobertaOptions {
  int layers = 12;         ///< transformer blocks
  int heads = 12;          ///< attention heads in each block; must divide the width
  int width = 768;         ///< features of a row of activations
  int hidden = 3072;       ///< features of a row inside the perceptron of a block
  int vocabulary = 50265;  ///< ids are in [0, vocabulary)
  int positions = 512;     ///< rows of the longest sequence, each with a learned embedding
  int types = 1;           ///< token types, of which all tokens have the first
  /// Id of padding (pad_token_id). The first row of a sequence has the position embedding pad + 1,
  /// so the table has positions + pad + 1 rows.
  int pad = 1;
  /// Classes that are told apart, or numbers that are predicted; 0 predicts masked tokens instead.
  int labels = 0;
  LabelKind label_kind = LabelKind::one_class;  ///< what `labels` are of; not class_of_token
  double dropout = 0.1;   ///< dropout probability of embeddings, attention, blocks, classifier
  double epsilon = 1e-5;  ///< added to the variance in layer norms
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (width).at_least(1),
                (hidden).at_least(1), (vocabulary).at_least(1), (positions).at_least(1),
                (types).at_least(1), (pad).at_least(0), (labels).at_least(0), (label_kind),
                (dropout).at_least(0).below(1), (epsilon).above(0))
};

namespace detail {
namespace roberta {

/// Options of the Bert whose embeddings and blocks RoBERTa has.
constexpr BertOptions bert_of(const RobertaOptions& o) {
  return {.layers = o.layers,
          .heads = o.heads,
          .width = o.width,
          .hidden = o.hidden,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .types = o.types,
          .dropout = o.dropout,
          .epsilon = o.epsilon};
}

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <RobertaOptions O, int W = O.width>
struct Transform {
  static constexpr const char* logits = "";  ///< the name of the logits

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto act = g("act", GeluErf<W>{}, g("dense", Linear<W, W, encoder::as_torch>{}, x));
    return g("layer_norm", LayerNorm<W, {.eps = O.epsilon}>{}, act);
  }
};

/// The logits of each sequence's classes, or its numbers. x: the first row, <s>, of each sequence.
template <RobertaOptions O, int W = O.width>
struct Classifier {
  static constexpr float P = float(O.dropout);  ///< dropout probability

  static constexpr Value<O.labels> trace(auto& g, Value<W> x) {
    auto kept = optional_dropout<W, P>(g, "dropout", x);
    auto known = g("act", Tanh<W>{}, g("dense", Linear<W, W, encoder::as_torch>{}, kept));
    return g("out_proj", Linear<W, O.labels, encoder::classifying>{},
             optional_dropout<W, P>(g, "act.dropout", known));
  }
};

/// The units of Roberta.
template <RobertaOptions O, int W = O.width>
struct Units {
  static constexpr BertOptions as_bert = bert_of(O);
  using Block = bert::BlockParts<as_bert, W>;
  using Transform = roberta::Transform<O>;
  using Classifier = roberta::Classifier<O>;
  static constexpr auto blocks = "roberta.encoder.layer", tokens = "lm_head",
                        classifier = "classifier";

  static constexpr Value<W> embed(auto& g) {
    return g.unit("roberta.embeddings", bert::Embed<as_bert, O.pad + 1, W>{}, g.tokens());
  }
  static constexpr Value<W> pooled(auto&, Value<W> x) { return x; }
};

/// The files of RobertaForMaskedLM or RobertaForSequenceClassification. `master_bytes`: bytes of
/// one master weight.
HuggingFace files_of(const RobertaOptions& o, std::size_t master_bytes);

}  // namespace roberta
}  // namespace detail

/// RoBERTa: BERT's blocks, without a pooler, with all tokens of one type, and positions counted
/// from behind the id of padding. Names and initial values are Hugging Face's. Without `labels` it
/// predicts masked tokens (RobertaForMaskedLM; use the objective MaskedLm). With `labels` it
/// predicts the class, several classes or numbers of each sequence from its first row, as
/// `label_kind` says (RobertaForSequenceClassification; give LabelledText .marks =
/// TextMarks::roberta). A prediction is the logits of each row, or the logits or numbers of each
/// sequence.
template <RobertaOptions O = {}>
struct Roberta : detail::encoder::Model<O, detail::roberta::Units<O>> {
  using slot = slot::model;
  using Options = RobertaOptions;
  using rules = detail::roberta::Rules;
  static constexpr Options options = O;

  /// The files of RobertaForMaskedLM or RobertaForSequenceClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::roberta::files_of(options, sizeof(typename R::precision::master));
  }
};

}  // namespace sinter
