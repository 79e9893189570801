// SPDX-License-Identifier: Apache-2.0
// RoBERTa (Liu et al. 2019).
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/label_loss.hpp"
#include "sinter/model/optional_dropout.hpp"
#include "sinter/model/roberta_rules.hpp"
#include "sinter/policy/concepts.hpp"

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

/// Options of the Bert whose blocks RoBERTa has.
constexpr BertOptions blocks_of(const RobertaOptions& o) {
  return {.layers = o.layers,
          .heads = o.heads,
          .width = o.width,
          .hidden = o.hidden,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .dropout = o.dropout,
          .epsilon = o.epsilon};
}

/// The embeddings of tokens, positions and the first type, then a layer norm and dropout.
template <RobertaOptions O, int W = O.width>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    auto x = g("word_embeddings", Embedding<O.vocabulary, W>{}, tokens);
    auto placed = g("position_embeddings", AddPosition<O.positions, W, O.pad + 1>{}, x);
    auto typed = g("token_type_embeddings", AddFirstEmbedding<O.types, W>{}, placed);
    auto n = g("LayerNorm", LayerNorm<W, {.eps = O.epsilon}>{}, typed);
    return optional_dropout<W, float(O.dropout)>(g, "dropout", n);
  }
};

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <RobertaOptions O, int W = O.width>
constexpr Value<W> transformed(auto& g, Value<W> x) {
  auto act = g("act", GeluErf<W>{}, g("dense", Linear<W, W, bert::as_torch>{}, x));
  return g("layer_norm", LayerNorm<W, {.eps = O.epsilon}>{}, act);
}
/// The loss of masked tokens. The logits share the embedding's table but have a bias of their own.
template <RobertaOptions O, int W = O.width>
struct HiddenTokensLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    using Loss = LinearBiasCrossEntropy<O.vocabulary, W>;
    return g.tied_weight("", "word_embeddings", Loss{}, transformed<O>(g, x), targets);
  }
};
/// The logits of the token in each row.
template <RobertaOptions O, int W = O.width>
struct TokenLogits {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    using Logits = UnembeddingBias<O.vocabulary, W>;
    return g.tied_weight("", "word_embeddings", Logits{}, transformed<O>(g, x));
  }
};

/// The logits of each sequence's classes, or its numbers. x: the first row, <s>, of each sequence.
template <RobertaOptions O, int W = O.width>
struct Classifier {
  static constexpr float P = float(O.dropout);  ///< dropout probability

  static constexpr Value<O.labels> trace(auto& g, Value<W> x) {
    auto kept = optional_dropout<W, P>(g, "dropout", x);
    auto known = g("act", Tanh<W>{}, g("dense", Linear<W, W, bert::as_torch>{}, kept));
    return g("out_proj", Linear<W, O.labels, bert::classifying>{},
             optional_dropout<W, P>(g, "act.dropout", known));
  }
};
/// The loss of each sequence's label.
template <RobertaOptions O, int W = O.width>
struct ClassifierLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, auto labels) {
    return label_loss<O>(g, Classifier<O>::trace(g, x), labels);
  }
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
struct Roberta {
  using slot = slot::model;
  using Options = RobertaOptions;
  using rules = detail::roberta::Rules;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto embedded = embed(g);
    if constexpr (O.labels > 0) {
      auto labels = detail::label_targets<O>(g);
      auto x = blocks(g, embedded);
      g.result(g.unit("classifier", detail::roberta::ClassifierLoss<O>{}, x, labels));
    } else {
      auto targets = g.targets();
      auto x = blocks(g, embedded);
      using Loss = detail::roberta::HiddenTokensLoss<O>;
      g.result(g.tied_unit("lm_head", embedded, Loss{}, x, targets));
    }
  }
  static constexpr void predict(auto& g) {
    auto embedded = embed(g);
    auto x = blocks(g, embedded);
    if constexpr (O.labels > 0) {
      g.result(g.unit("classifier", detail::roberta::Classifier<O>{}, x));
    } else {
      g.result(g.tied_unit("lm_head", embedded, detail::roberta::TokenLogits<O>{}, x));
    }
  }
  /// The files of RobertaForMaskedLM or RobertaForSequenceClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::roberta::files_of(options, sizeof(typename R::precision::master));
  }

 private:
  static constexpr Value<O.width> embed(auto& g) {
    return g.unit("roberta.embeddings", detail::roberta::Embed<O>{}, g.tokens());
  }
  /// The output of the blocks: all rows, or for classes the first row of each sequence.
  static constexpr Value<O.width> blocks(auto& g, Value<O.width> x) {
    constexpr auto name = "roberta.encoder.layer";
    constexpr BertOptions B = detail::roberta::blocks_of(O);
    if constexpr (O.labels > 0) {
      using Last = detail::bert::FirstRowBlock<B>;
      return g.repeat_with_last(O.layers, name, detail::bert::Block<B>{}, Last{}, x);
    } else {
      return g.repeat(O.layers, name, detail::bert::Block<B>{}, x);
    }
  }
};

}  // namespace sinter
