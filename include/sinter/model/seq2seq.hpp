// SPDX-License-Identifier: Apache-2.0
// Encoder-decoders: BART (Lewis et al. 2020), Marian (Junczys-Dowmunt et al. 2018), Blenderbot
// (Roller et al. 2021), and the transformer of ParlAI.
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/concat.hpp"
#include "sinter/layer/cross_attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/init.hpp"
#include "sinter/layer/int8.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/scale.hpp"
#include "sinter/layer/sinusoids.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/optional_dropout.hpp"
#include "sinter/model/seq2seq_files.hpp"
#include "sinter/model/seq2seq_options.hpp"

namespace sinter {

namespace detail {
namespace seq2seq {

/// A matrix in torch.nn's layout, out × in.
inline constexpr LinearOptions as_torch{.layout = WeightLayout::out_in};

/// Turns one side's token embeddings into input of its blocks: scales them, adds positions, applies
/// dropout, and may apply a norm before or after the addition.
template <Seq2SeqOptions O, EmbeddingNorm Where, int W = O.width>
struct Placed {
  /// The factor of token embeddings.
  static constexpr double factor = O.scale_embedding ? rounded_square_root(W) : 1;
  const char* scale;      ///< the name of the node that scales
  const char* norm;       ///< the name of the norm
  const char* positions;  ///< the name of the position embeddings
  const char* drop;       ///< the name of dropout

  /// Adds these nodes to a unit. Returns the input of the first block.
  constexpr Value<W> add(auto& g, Value<W> tokens) const {
    auto scaled = scaled_tokens(g, tokens);
    auto before = normed<EmbeddingNorm::before_positions>(g, scaled);
    auto after = normed<EmbeddingNorm::after_positions>(g, placed(g, before));
    return optional_dropout<W, float(O.dropout)>(g, drop, after);
  }

 private:
  constexpr Value<W> scaled_tokens(auto& g, Value<W> x) const {
    if constexpr (O.scale_embedding && Where != EmbeddingNorm::before_positions) {
      return g(scale, Scale<W, factor>{}, x);
    } else {
      return x;
    }
  }
  constexpr Value<W> placed(auto& g, Value<W> x) const {
    if constexpr (O.position == Positions::learned) {
      return g(positions, AddPosition<O.positions, W, O.position_offset>{}, x);
    } else {
      return g(positions, AddSinusoids<W>{}, x);
    }
  }
  template <EmbeddingNorm Here>
  constexpr Value<W> normed(auto& g, Value<W> x) const {
    if constexpr (Where == Here) {
      return g(norm, LayerNorm<W>{}, x);
    } else {
      return x;
    }
  }
};

/// The embeddings of the encoder's tokens. This unit has the model's only embedding table.
template <Seq2SeqOptions O, int W = O.width>
struct EncoderEmbed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    constexpr Placed<O, O.encoder_norm> placed{"encoder.scale", "encoder.layernorm_embedding",
                                               "encoder.embed_positions", "encoder.dropout"};
    return placed.add(g, g("shared", Embedding<O.vocabulary, W>{}, tokens));
  }
};
/// The embeddings of the decoder's tokens, from the encoder's table.
template <Seq2SeqOptions O, int W = O.width>
struct DecoderEmbed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    constexpr Placed<O, O.decoder_norm> placed{"scale", "layernorm_embedding", "embed_positions",
                                               "dropout"};
    return placed.add(g, g.tied("embed_tokens", "shared", Embedding<O.vocabulary, W>{}, tokens));
  }
};

/// x times the matrix `name` of an attention.
template <int W>
constexpr Value<W> projected(auto& g, const char* name, Value<W> x) {
  return g(name, Linear<W, W, as_torch>{}, x);
}

/// Parts of both kinds of blocks: dropout and a norm after each residual sum, and a perceptron.
template <Seq2SeqOptions O, int W = O.width>
struct Parts {
  static constexpr float P = float(O.dropout);                    ///< dropout probability
  static constexpr float attention = float(O.attention_dropout);  ///< dropout of attention

  /// The norm of x + dropout(made). `made`: the output of a part of the block, x: its input.
  static constexpr Value<W> joined(auto& g, const char* drop, const char* norm, Value<W> made,
                                   Value<W> x) {
    return g(norm, PostLayerNorm<W>{}, optional_dropout<W, P>(g, drop, made), x);
  }
  /// Attention of each row to its own sequence, with its residual sum and norm.
  template <class Attention>
  static constexpr Value<W> attended(auto& g, Value<W> x) {
    auto q = projected(g, "self_attn.q_proj", x);
    auto k = projected(g, "self_attn.k_proj", x);
    auto v = projected(g, "self_attn.v_proj", x);
    auto mixed = g("self_attn", Attention{}, g("self_attn.qkv", Concat<W, W, W>{}, q, k, v));
    return joined(g, "self_attn.dropout", "self_attn_layer_norm",
                  projected(g, "self_attn.out_proj", mixed), x);
  }
  /// The perceptron of each row, with its residual sum and norm.
  static constexpr Value<W> perceptron(auto& g, Value<W> x) {
    auto wide = g("fc1", Linear<W, O.hidden, as_torch>{}, x);
    auto active = g("act", Activate<O.hidden, O.activation>{}, wide);
    auto kept = optional_dropout<O.hidden, float(O.activation_dropout)>(g, "act.dropout", active);
    return joined(g, "dropout", "final_layer_norm", g("fc2", Linear<O.hidden, W, as_torch>{}, kept),
                  x);
  }
};

/// An encoder block: attention to the whole text and a perceptron, each with a norm after the sum.
template <Seq2SeqOptions O, int W = O.width>
struct EncoderBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    using Attention = SelfAttention<W, O.heads, Parts<O>::attention>;
    return Parts<O>::perceptron(g, Parts<O>::template attended<Attention>(g, x));
  }
};

/// A decoder block: attention to the reply so far, attention to the encoder's output and a
/// perceptron, each with a norm after the sum.
template <Seq2SeqOptions O, int W = O.width>
struct DecoderBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> text) {
    using Attention = CausalSelfAttention<W, O.heads, Parts<O>::attention>;
    return read(g, Parts<O>::template attended<Attention>(g, x), text);
  }
  /// The rest of the block after attention to the reply. h: the rows that have attended to it.
  static constexpr Value<W> read(auto& g, Value<W> h, Value<W> text) {
    auto q = projected(g, "encoder_attn.q_proj", h);
    auto k = projected(g, "encoder_attn.k_proj", text);
    auto v = projected(g, "encoder_attn.v_proj", text);
    auto kv = g("encoder_attn.kv", Concat<W, W>{}, k, v);
    auto mixed = g("encoder_attn", CrossAttention<W, O.heads, Parts<O>::attention>{}, q, kv);
    auto joined = Parts<O>::joined(g, "encoder_attn.dropout", "encoder_attn_layer_norm",
                                   projected(g, "encoder_attn.out_proj", mixed), h);
    return Parts<O>::perceptron(g, joined);
  }
};

/// The last decoder block where only each reply's last row is read, with DecoderBlock's parameters.
/// Keys and values are of the whole reply; the rest is computed for the last rows only.
template <Seq2SeqOptions O, int W = O.width>
struct LastRowBlock {
  static constexpr Value<W> trace(auto& g, Value<W> x, Value<W> text) {
    using Attention = CrossAttention<W, O.heads, Parts<O>::attention>;
    auto last = g("last", LastRow<W>{}, x);
    auto q = projected(g, "self_attn.q_proj", last);
    auto k = projected(g, "self_attn.k_proj", x);
    auto v = projected(g, "self_attn.v_proj", x);
    auto mixed = g("self_attn", Attention{}, q, g("self_attn.kv", Concat<W, W>{}, k, v));
    auto h = Parts<O>::joined(g, "self_attn.dropout", "self_attn_layer_norm",
                              projected(g, "self_attn.out_proj", mixed), last);
    return DecoderBlock<O>::read(g, h, text);
  }
};

/// The bias of logits, which Hugging Face's files hold and which is not trained.
template <int Vocabulary>
constexpr Param final_logits_bias() {
  Param bias = Param::vector("final_logits_bias", Vocabulary, Init::zeros);
  bias.dimensions = {1, Vocabulary};
  return bias;
}
/// A layer L with a table and a bias, whose bias is final_logits_bias().
template <class L, int Vocabulary>
struct WithFinalBias : L {
  /// The table and the bias.
  static constexpr typename L::template Params<Param> params{L::params.weight,
                                                             final_logits_bias<Vocabulary>()};
};

/// The loss over logits, whose weight is the embedding table.
template <Seq2SeqOptions O, int W = O.width, int V = O.vocabulary>
struct ReplyLoss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    using Loss = WithFinalBias<LinearBiasCrossEntropy<V, W>, V>;
    return g.tied_weight("", "shared", Loss{}, x, targets);
  }
};
/// The logits of the token after each reply. x: the last row of each.
template <Seq2SeqOptions O, int W = O.width, int V = O.vocabulary>
struct NextToken {
  static constexpr Value<V> trace(auto& g, Value<W> x) {
    using Logits = WithFinalBias<UnembeddingBias<V, W>, V>;
    return g.tied_weight("", "shared", Logits{}, x);
  }
};
/// The logits of the token after each reply. x: all rows, of which the last are taken.
template <Seq2SeqOptions O, int W = O.width>
struct NextTokenOfRows {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    return NextToken<O>::trace(g, g("last", LastRow<W>{}, x));
  }
};

}  // namespace seq2seq

template <int V, int W, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<seq2seq::WithFinalBias<UnembeddingBias<V, W>, V>, Group, ElementBytes>
    : std::type_identity<
          Int8Head<seq2seq::WithFinalBias<UnembeddingBias<V, W>, V>, V, W, Group, ElementBytes>> {};
template <int V, int W, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<seq2seq::WithFinalBias<LinearBiasCrossEntropy<V, W>, V>, Group, ElementBytes>
    : std::type_identity<Int8Loss<seq2seq::WithFinalBias<LinearBiasCrossEntropy<V, W>, V>, V, W,
                                  Group, ElementBytes>> {};
}  // namespace detail

/// An encoder-decoder. Each row of the encoder attends to the whole text; each row of the decoder
/// attends to itself, to those before it and to the whole text. Norms follow the residual sums. One
/// table embeds the tokens of both sides and gives the logits. The options choose the architecture;
/// names and initial values are Hugging Face's:
///   BartForConditionalGeneration             learned positions with an offset of 2, both embedding
///                                            norms after_positions
///   BlenderbotSmallForConditionalGeneration  learned positions, the encoder's norm after_positions
///                                            and the decoder's before_positions
///   MarianMTModel                            sinusoidal positions, no embedding norms
/// Other options train as well; their exports hold only the weights. ParlAI's transformer/generator
/// is the Marian shape with Activation::relu, .scale_embedding and 2 heads. ParlAI interleaves
/// sines and cosines, so its weights fit after a permutation of the width.
///
/// A batch has the texts on axis 1 and the replies on axis 0: ids[0] are the tokens of texts,
/// ids[1] the decoder's inputs, ids[2] its targets (DialoguePairs). Each side has its own rows, so
/// texts need no padding and no attention mask; where a batching pads, no row attends to padding. A
/// prediction is the logits of the token after each reply. The bias of logits is zero or from a
/// file, and is not trained.
template <Seq2SeqOptions O = {}>
struct Seq2Seq {
  using slot = slot::model;
  using Options = Seq2SeqOptions;
  using rules = detail::seq2seq::Rules;
  static constexpr Options options = O;
  static constexpr std::array frozen{"final_logits_bias"};

  static constexpr void trace(auto& g) {
    auto text = g.tokens(1), reply = g.tokens(0), targets = g.targets(0);
    auto [x, table] = decoded(g, detail::seq2seq::DecoderBlock<O>{}, text, reply);
    g.result(g.tied_unit("", table, detail::seq2seq::ReplyLoss<O>{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto text = g.tokens(1), reply = g.tokens(0);
    auto [x, table] = decoded(g, detail::seq2seq::LastRowBlock<O>{}, text, reply);
    g.result(g.tied_unit("", table, detail::seq2seq::NextToken<O>{}, x));
  }
  /// Predicts as predict() does, at each position of a reply.
  static constexpr void predict_rows(auto& g) {
    auto text = g.tokens(1), reply = g.tokens(0);
    auto [x, table] = decoded(g, detail::seq2seq::DecoderBlock<O>{}, text, reply);
    g.result(g.tied_unit("", table, detail::seq2seq::NextTokenOfRows<O>{}, x));
  }
  /// The files of the class that the options choose; without such a class, only the weights.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::seq2seq::files_of(options, sizeof(typename R::precision::master));
  }

 private:
  /// The decoder's output, where `last` is its last block, and a value of the unit that has the
  /// table.
  static constexpr auto decoded(auto& g, auto last, Ids text, Ids reply) {
    auto table = g.unit("model", detail::seq2seq::EncoderEmbed<O>{}, text);
    auto encoded = g.repeat(O.encoder_layers, "model.encoder.layers",
                            detail::seq2seq::EncoderBlock<O>{}, table);
    auto embedded = g.tied_unit("model.decoder", table, detail::seq2seq::DecoderEmbed<O>{}, reply);
    auto x = g.repeat_with_last(O.decoder_layers, "model.decoder.layers",
                                detail::seq2seq::DecoderBlock<O>{}, last, embedded, encoded);
    return std::pair(x, table);
  }
};

}  // namespace sinter
