// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019).
#pragma once
#include "sinter/layer/activation.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/bert_rules.hpp"
#include "sinter/model/encoder.hpp"
#include "sinter/model/optional_dropout.hpp"

namespace sinter {

/// Options of Bert. The defaults are BERT base, uncased; BERT large has 24 layers, 16 heads, a
/// width of 1024 and 4096 hidden features.
struct BertOptions {
  int layers = 12;         ///< transformer blocks
  int heads = 12;          ///< attention heads in each block; must divide the width
  int width = 768;         ///< features of a row of activations
  int hidden = 3072;       ///< features of a row inside the perceptron of a block
  int vocabulary = 30522;  ///< ids are in [0, vocabulary)
  int positions = 512;     ///< rows of the longest sequence, each with a learned embedding
  int types = 2;           ///< token types, such as one for each text of a pair
  /// True if a batch holds the type of each token in ids[1] and the targets in ids[2]. If false,
  /// all tokens have type 0, and the targets are in ids[1].
  bool pairs = false;
  /// Classes that are told apart, or numbers that are predicted; 0 predicts masked tokens instead.
  int labels = 0;
  LabelKind label_kind = LabelKind::one_class;  ///< what `labels` are of
  double dropout = 0.1;    ///< dropout probability of embeddings, attention, blocks, classifier
  double epsilon = 1e-12;  ///< added to the variance in layer norms
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (width).at_least(1),
                (hidden).at_least(1), (vocabulary).at_least(1), (positions).at_least(1),
                (types).at_least(1), (pairs), (labels).at_least(0), (label_kind),
                (dropout).at_least(0).below(1), (epsilon).above(0))
};

namespace detail {
namespace bert {

using encoder::as_torch, encoder::classifying;

/// The embeddings of tokens, positions and types, then a layer norm and dropout. The first row of a
/// sequence has the position embedding First.
template <BertOptions O, int First = 0, int W = O.width>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens, auto... types) {
    auto x = g("word_embeddings", Embedding<O.vocabulary, W>{}, tokens);
    auto placed = g("position_embeddings", AddPosition<O.positions, W, First>{}, x);
    auto typed = with_types(g, placed, types...);
    auto n = g("LayerNorm", LayerNorm<W, {.eps = O.epsilon}>{}, typed);
    return optional_dropout<W, float(O.dropout)>(g, "dropout", n);
  }

 private:
  static constexpr Value<W> with_types(auto& g, Value<W> x) {
    return g("token_type_embeddings", AddFirstEmbedding<O.types, W>{}, x);
  }
  static constexpr Value<W> with_types(auto& g, Value<W> x, Ids types) {
    return g("token_type_embeddings", AddEmbedding<O.types, W>{}, x, types);
  }
};

/// A transformer block: attention and a perceptron, each with a norm after its residual sum.
template <BertOptions O, int W = O.width>
struct BlockParts {
  /// The norm after each residual sum.
  using Norm = PostLayerNorm<W, {.eps = O.epsilon}>;
  static constexpr float P = float(O.dropout);  ///< dropout probability
  static constexpr encoder::AttentionNames names{"attention.self",     "attention.self.query",
                                                 "attention.self.key", "attention.self.value",
                                                 "attention.self.qkv", "attention.self.kv"};

  /// The rest of the block after attention. `mixed`: output of attention, x: the block's input.
  static constexpr Value<W> attended(auto& g, Value<W> mixed, Value<W> x) {
    auto attended = g("attention.output.dense", Linear<W, W, as_torch>{}, mixed);
    auto kept = optional_dropout<W, P>(g, "attention.output.dropout", attended);
    auto h = g("attention.output.LayerNorm", Norm{}, kept, x);
    auto wide = g("intermediate.dense", Linear<W, O.hidden, as_torch>{}, h);
    auto act = g("intermediate.act", GeluErf<O.hidden>{}, wide);
    auto narrow = g("output.dense", Linear<O.hidden, W, as_torch>{}, act);
    return g("output.LayerNorm", Norm{}, optional_dropout<W, P>(g, "output.dropout", narrow), h);
  }
};

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <BertOptions O, int W = O.width>
struct Transform {
  static constexpr const char* logits = "";  ///< the name of the logits

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto dense = g("transform.dense", Linear<W, W, as_torch>{}, x);
    auto act = g("transform.act", GeluErf<W>{}, dense);
    return g("transform.LayerNorm", LayerNorm<W, {.eps = O.epsilon}>{}, act);
  }
};

/// BERT's pooler: linear and tanh. x: the first row, [CLS], of each sequence.
template <BertOptions O, int W = O.width>
struct Pooler {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto pooled = g("act", Tanh<W>{}, g("dense", Linear<W, W, as_torch>{}, x));
    return optional_dropout<W, float(O.dropout)>(g, "dropout", pooled);
  }
};
/// The logits of classes, or the numbers, of each sequence by its pooled row, or of each token.
template <BertOptions O, int W = O.width>
struct Classifier {
  static constexpr Value<O.labels> trace(auto& g, Value<W> x) {
    if constexpr (!reads_first_row(O))
      x = optional_dropout<W, float(O.dropout)>(g, "dropout", x);  // else the pooler has it
    return g("", Linear<W, O.labels, classifying>{}, x);
  }
};
/// The units of Bert.
template <BertOptions O, int W = O.width>
struct Units {
  using Block = BlockParts<O>;
  using Transform = bert::Transform<O>;
  using Classifier = bert::Classifier<O>;
  static constexpr auto blocks = "bert.encoder.layer", tokens = "cls.predictions",
                        classifier = "classifier";

  static constexpr Value<W> embed(auto& g) {
    auto ids = g.tokens();
    if constexpr (O.pairs) {
      return g.unit("bert.embeddings", Embed<O>{}, ids, g.tokens());
    } else {
      return g.unit("bert.embeddings", Embed<O>{}, ids);
    }
  }
  static constexpr Value<W> pooled(auto& g, Value<W> x) {
    return g.unit("bert.pooler", Pooler<O>{}, x);
  }
};

/// The files of BertForMaskedLM, BertForSequenceClassification or BertForTokenClassification.
/// `master_bytes`: bytes of one master weight.
HuggingFace files_of(const BertOptions& o, std::size_t master_bytes);

}  // namespace bert
}  // namespace detail

/// BERT, an encoder: each row attends to its whole sequence, norms follow the residual sums, and
/// GELU is the exact one. Names and initial values are Hugging Face's. Without `labels` it predicts
/// masked tokens (BertForMaskedLM; use the objective MaskedLm). With `labels` it predicts the
/// class, several classes or numbers of each sequence from its first row
/// (BertForSequenceClassification), or the class of each token (BertForTokenClassification), as
/// `label_kind` says. Sequences have their own lengths, so there is neither padding nor an
/// attention mask. Where only first rows are read, the last block computes only these. A prediction
/// is the logits of each row, or the logits or numbers of each sequence.
template <BertOptions O = {}>
struct Bert : detail::encoder::Model<O, detail::bert::Units<O>> {
  using slot = slot::model;
  using Options = BertOptions;
  using rules = detail::bert::Rules;
  static constexpr Options options = O;

  /// The files of BertForMaskedLM, BertForSequenceClassification or BertForTokenClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::bert::files_of(options, sizeof(typename R::precision::master));
  }
};

}  // namespace sinter
