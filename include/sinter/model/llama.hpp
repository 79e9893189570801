// SPDX-License-Identifier: Apache-2.0
// Llama (Touvron et al. 2023, Grattafiori et al. 2024); with a sliding window Mistral (Jiang et al.
// 2023), and with biases on q, k and v Qwen2 (Yang et al. 2024).
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/layer/rotary.hpp"
#include "sinter/layer/swiglu.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/llama_rules.hpp"

namespace sinter {

/// Options of Llama. The defaults are Llama 2 7B.
struct LlamaOptions {
  int layers = 32;         ///< transformer blocks
  int heads = 32;          ///< query heads in each block; must divide the width
  int kv_heads = 0;        ///< key and value heads; must divide `heads`. 0: same as `heads`
  int width = 4096;        ///< features of a row of activations
  int head_width = 0;      ///< features of a head, even. 0: width / heads
  int hidden = 11008;      ///< features of a row inside the perceptron of a block
  int vocabulary = 32000;  ///< ids are in [0, vocabulary)
  int positions = 4096;    ///< rows of the longest sequence
  int window = 0;          ///< rows that a row attends to: itself and those just before it. 0: all
  double theta = 10000;    ///< base of the angles by which positions rotate heads
  /// How the angles change for sequences longer than those of the first training.
  RotaryScaling scaling = RotaryScaling::none;
  double scaling_factor = 1;  ///< for every scaling: how many times longer sequences are
  double low_frequency = 1;   ///< for llama3; see RotaryOptions
  double high_frequency = 4;  ///< for llama3; see RotaryOptions
  /// For llama3 and yarn; see RotaryOptions. For dynamic the max_position_embeddings of files: the
  /// angles are those that transformers has in a sequence of `positions` rows, for every sequence.
  int original_positions = 8192;
  double eps = 1e-5;              ///< added to the mean of the squares in norms
  bool tied = false;              ///< true if the head shares the weight of the token embedding
  bool qkv_biases = false;        ///< true if q, k and v have biases, as in Qwen2
  double attention_dropout = 0;   ///< dropout probability of attention; nothing else has dropout
  double beta_fast = 32;          ///< for yarn; see RotaryOptions
  double beta_slow = 1;           ///< for yarn; see RotaryOptions
  double attention_factor = 0;    ///< for yarn; 0: of scaling_factor, see RotaryOptions
  double mscale = 0;              ///< for yarn; 0: none, see RotaryOptions
  double mscale_all_dim = 0;      ///< for yarn; 0: none, see RotaryOptions
  bool truncate = true;           ///< for yarn; see RotaryOptions
  bool attention_biases = false;  ///< true if q, k, v and the output of attention have biases
  bool mlp_biases = false;        ///< true if the three matrices of the perceptron have biases

  /// Number of key and value heads.
  constexpr int key_heads() const { return kv_heads ? kv_heads : heads; }
  /// Features of a head.
  constexpr int head_dim() const { return head_width ? head_width : width / heads; }
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (kv_heads).at_least(0),
                (width).at_least(1), (head_width).at_least(0), (hidden).at_least(1),
                (vocabulary).at_least(1), (positions).at_least(1), (window).at_least(0),
                (theta).above(0), (scaling), (scaling_factor).at_least(1), (low_frequency).above(0),
                (high_frequency).above(0), (original_positions).at_least(1), (eps).above(0), (tied),
                (qkv_biases), (attention_dropout).at_least(0).below(1), (beta_fast).above(0),
                (beta_slow).above(0), (attention_factor).at_least(0), (mscale).at_least(0),
                (mscale_all_dim).at_least(0), (truncate), (attention_biases), (mlp_biases))
};

namespace detail {
namespace llama {

/// A linear layer with torch.nn.Linear's layout and Llama's initial values.
template <bool HasBias = false>
inline constexpr LinearOptions linear{
    .layout = WeightLayout::out_in, .weight = Init::normal(.02f), .has_bias = HasBias};

/// Options of all norms, which are RMS norms.
template <LlamaOptions O>
inline constexpr RmsNormOptions norm{.eps = O.eps};

/// The embeddings of tokens. Positions enter through the rotary angles of attention.
template <LlamaOptions O, int W = O.width>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    return g("embed_tokens", Embedding<O.vocabulary, W>{}, tokens);
  }
};

/// A transformer block: attention with rotary positions and a gated perceptron, each after a norm.
template <LlamaOptions O, int W = O.width, int Heads = O.heads, int KeyHeads = O.key_heads()>
struct Block {
  static constexpr int D = O.head_dim();  ///< features of a head
  /// The angles by which positions rotate queries and keys.
  static constexpr RotaryOptions angles{
      .theta = O.theta,
      .scaling = O.scaling,
      .factor = O.scaling_factor,
      .low_frequency = O.low_frequency,
      .high_frequency = O.high_frequency,
      .original_positions = O.original_positions,
      .positions = O.positions,
      .beta_fast = O.beta_fast,
      .beta_slow = O.beta_slow,
      .attention_factor = O.attention_factor,
      .mscale = O.mscale,
      .mscale_all_dim = O.mscale_all_dim,
      .truncate = O.truncate,
  };

  static constexpr Value<W> trace(auto& g, Value<W> x) {
    constexpr LinearOptions projected = linear < O.qkv_biases || O.attention_biases > ;
    constexpr LinearOptions inside = linear<O.mlp_biases>;
    auto n = g("input_layernorm", RmsNorm<W, norm<O>>{}, x);
    auto q = g("self_attn.q_proj", Linear<W, Heads * D, projected>{}, n);
    auto k = g("self_attn.k_proj", Linear<W, KeyHeads * D, projected>{}, n);
    auto v = g("self_attn.v_proj", Linear<W, KeyHeads * D, projected>{}, n);
    auto qkv = g("self_attn.rotary", Rotary<Heads, KeyHeads, D, angles>{}, q, k, v);
    using Attention =
        CausalSelfAttention<Heads * D, Heads, float(O.attention_dropout), KeyHeads, O.window>;
    auto seen = g("self_attn", Attention{}, qkv);
    auto attended = g("self_attn.o_proj", Linear<Heads * D, W, linear<O.attention_biases>>{}, seen);
    auto [h, m] = g("post_attention_layernorm", AddRmsNorm<W, norm<O>>{}, x, attended);
    auto gate = g("mlp.gate_proj", Linear<W, O.hidden, inside>{}, m);
    auto up = g("mlp.up_proj", Linear<W, O.hidden, inside>{}, m);
    auto gated = g("mlp.act", GatedSilu<O.hidden>{}, gate, up);
    return g("add", Add<W>{}, h, g("mlp.down_proj", Linear<O.hidden, W, inside>{}, gated));
  }
};

/// The final norm and the loss over logits.
template <LlamaOptions O, int W = O.width>
struct Head {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    auto n = g("model.norm", RmsNorm<W, norm<O>>{}, x);
    using Loss = LinearCrossEntropy<O.vocabulary, W>;
    if constexpr (O.tied) {
      return g.tied("lm_head", "embed_tokens", Loss{}, n, targets);
    } else {
      return g("lm_head", Loss{}, n, targets);
    }
  }
};

/// The final norm and the logits of the token after each sequence.
template <LlamaOptions O, int W = O.width>
struct NextToken {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    auto n = g("model.norm", RmsNorm<W, norm<O>>{}, g("last", LastRow<W>{}, x));
    using Logits = Unembedding<O.vocabulary, W>;
    if constexpr (O.tied) {
      return g.tied("lm_head", "embed_tokens", Logits{}, n);
    } else {
      return g("lm_head", Logits{}, n);
    }
  }
};

/// The files of LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM, without a config if none
/// of them has these biases and windows. `master_bytes`: bytes of one master weight.
HuggingFace files_of(const LlamaOptions& o, std::size_t master_bytes);

}  // namespace llama
}  // namespace detail

/// A decoder-only transformer with rotary positions, RMS norms, SwiGLU and grouped-query attention.
/// Names and initial values are Hugging Face's: MistralForCausalLM with a window, Qwen2ForCausalLM
/// with biases on q, k and v, otherwise LlamaForCausalLM.
template <LlamaOptions O = {}>
struct Llama {
  using slot = slot::model;
  using Options = LlamaOptions;
  using rules = RuleList<detail::llama::HeadsDivideWidth, detail::llama::HeadWidthIsEven,
                         detail::llama::KvHeadsDivideHeads, detail::llama::ContextWithinPositions,
                         detail::llama::VocabularyHoldsData>;
  static constexpr Options options = O;
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.scaling == RotaryScaling::none && o.scaling_factor != 1)
      return {"scaling_factor without scaling", "choose linear or llama3"};
    if (o.scaling == RotaryScaling::llama3 && o.low_frequency >= o.high_frequency)
      return {"low_frequency is not the lower", "lower it, or raise the other"};
    if (o.scaling == RotaryScaling::yarn && o.beta_slow > o.beta_fast)
      return {"beta_slow is not the lower", "lower it, or raise beta_fast"};
    if (o.scaling == RotaryScaling::yarn && o.theta <= 1)
      return {"yarn with a theta of 1 or less", "raise theta"};
    if (o.scaling == RotaryScaling::dynamic && o.head_dim() == 2)
      return {"dynamic scaling of heads 2 wide", "choose wider heads"};
    const bool is_default = o.beta_fast == 32 && o.beta_slow == 1 && o.attention_factor == 0 &&
                            o.mscale == 0 && o.mscale_all_dim == 0 && o.truncate;
    if (o.scaling != RotaryScaling::yarn && !is_default)
      return {"options of yarn without yarn", "choose yarn as the scaling"};
    if (o.qkv_biases && o.attention_biases)
      return {"qkv_biases beside attention_biases", "choose one of them"};
    return {};
  }

  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("model", detail::llama::Embed<O>{}, tokens);
    auto x = g.repeat(O.layers, "model.layers", detail::llama::Block<O>{}, embedded);
    g.result(with_head(g, embedded, detail::llama::Head<O>{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto embedded = g.unit("model", detail::llama::Embed<O>{}, g.tokens());
    auto x = g.repeat(O.layers, "model.layers", detail::llama::Block<O>{}, embedded);
    g.result(with_head(g, embedded, detail::llama::NextToken<O>{}, x));
  }
  /// The files of LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM. The ids that begin and
  /// end a text are null, as only a tokenizer knows them.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::llama::files_of(options, sizeof(typename R::precision::master));
  }

 private:
  static constexpr auto with_head(auto& g, Value<O.width> embedded, auto head, auto... x) {
    if constexpr (O.tied) {
      return g.tied_unit("", embedded, head, x...);
    } else {
      return g.unit("", head, x...);
    }
  }
};

}  // namespace sinter
