// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019).
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

/// A matrix in torch.nn's layout, out × in.
inline constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};
/// A matrix that produces logits, also out × in.
inline constexpr LinearOptions classifying{.layout = WeightLayout::out_in, .hidden = false};

/// The embeddings of tokens, positions and types, then a layer norm and dropout.
template <BertOptions O, int W = O.width>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens, auto... types) {
    auto x = g("word_embeddings", Embedding<O.vocabulary, W>{}, tokens);
    auto placed = g("position_embeddings", AddPosition<O.positions, W>{}, x);
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
struct Block {
  /// The norm after each residual sum.
  using Norm = PostLayerNorm<W, {.eps = O.epsilon}>;
  static constexpr float P = float(O.dropout);  ///< dropout probability

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto q = g("attention.self.query", Linear<W, W, as_torch>{}, x);
    auto k = g("attention.self.key", Linear<W, W, as_torch>{}, x);
    auto v = g("attention.self.value", Linear<W, W, as_torch>{}, x);
    auto qkv = g("attention.self.qkv", Concat<W, W, W>{}, q, k, v);
    return attended(g, g("attention.self", SelfAttention<W, O.heads, P>{}, qkv), x);
  }
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
/// The last block where only the first row of each sequence is read, with the parameters of Block.
/// Keys and values are of all rows; everything else is computed for the first rows only.
template <BertOptions O, int W = O.width>
struct FirstRowBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    using Attention = CrossAttention<W, O.heads, Block<O>::P>;
    auto first = g("first", FirstRow<W>{}, x);
    auto q = g("attention.self.query", Linear<W, W, as_torch>{}, first);
    auto k = g("attention.self.key", Linear<W, W, as_torch>{}, x);
    auto v = g("attention.self.value", Linear<W, W, as_torch>{}, x);
    auto kv = g("attention.self.kv", Concat<W, W>{}, k, v);
    return Block<O>::attended(g, g("attention.self", Attention{}, q, kv), first);
  }
};

/// The transform before the logits of masked tokens: linear, GELU, layer norm.
template <BertOptions O, int W = O.width>
constexpr Value<W> transformed(auto& g, Value<W> x) {
  auto dense = g("transform.dense", Linear<W, W, as_torch>{}, x);
  auto act = g("transform.act", GeluErf<W>{}, dense);
  return g("transform.LayerNorm", LayerNorm<W, {.eps = O.epsilon}>{}, act);
}
/// The loss of masked tokens. The logits share the embedding's table but have a bias of their own.
template <BertOptions O, int W = O.width>
struct HiddenTokensLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    using Loss = LinearBiasCrossEntropy<O.vocabulary, W>;
    return g.tied_weight("", "word_embeddings", Loss{}, transformed<O>(g, x), targets);
  }
};
/// The logits of the token in each row.
template <BertOptions O, int W = O.width>
struct TokenLogits {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    using Logits = UnembeddingBias<O.vocabulary, W>;
    return g.tied_weight("", "word_embeddings", Logits{}, transformed<O>(g, x));
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
/// The loss of each sequence's label, or each token's.
template <BertOptions O, int W = O.width>
struct ClassifierLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, auto labels) {
    return label_loss<O>(g, Classifier<O>::trace(g, x), labels);
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
struct Bert {
  using slot = slot::model;
  using Options = BertOptions;
  using rules = detail::bert::Rules;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto embedded = embed(g);
    if constexpr (O.labels > 0) {
      auto labels = detail::label_targets<O>(g);
      auto x = classified(g, embedded);
      g.result(g.unit("classifier", detail::bert::ClassifierLoss<O>{}, x, labels));
    } else {
      auto targets = g.targets();
      auto x = blocks(g, embedded);
      using Loss = detail::bert::HiddenTokensLoss<O>;
      g.result(g.tied_unit("cls.predictions", embedded, Loss{}, x, targets));
    }
  }
  static constexpr void predict(auto& g) {
    auto embedded = embed(g);
    if constexpr (O.labels > 0) {
      g.result(g.unit("classifier", detail::bert::Classifier<O>{}, classified(g, embedded)));
    } else {
      auto x = blocks(g, embedded);
      g.result(g.tied_unit("cls.predictions", embedded, detail::bert::TokenLogits<O>{}, x));
    }
  }
  /// The files of BertForMaskedLM, BertForSequenceClassification or BertForTokenClassification.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::bert::files_of(options, sizeof(typename R::precision::master));
  }

 private:
  static constexpr Value<O.width> embed(auto& g) {
    auto tokens = g.tokens();
    if constexpr (O.pairs) {
      return g.unit("bert.embeddings", detail::bert::Embed<O>{}, tokens, g.tokens());
    } else {
      return g.unit("bert.embeddings", detail::bert::Embed<O>{}, tokens);
    }
  }
  /// What the classifier reads: the pooled first row of each sequence, or all rows.
  static constexpr Value<O.width> classified(auto& g, Value<O.width> embedded) {
    auto x = blocks(g, embedded);
    if constexpr (detail::reads_first_row(O))
      x = g.unit("bert.pooler", detail::bert::Pooler<O>{}, x);
    return x;
  }
  /// The output of the blocks: all rows, or the first row of each sequence.
  static constexpr Value<O.width> blocks(auto& g, Value<O.width> x) {
    constexpr auto name = "bert.encoder.layer";
    if constexpr (detail::reads_first_row(O)) {
      using Last = detail::bert::FirstRowBlock<O>;
      return g.repeat_with_last(O.layers, name, detail::bert::Block<O>{}, Last{}, x);
    } else {
      return g.repeat(O.layers, name, detail::bert::Block<O>{}, x);
    }
  }
};

}  // namespace sinter
