// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019).
#pragma once
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/activation.hpp"
#include "sinter/layer/add.hpp"
#include "sinter/layer/attention.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/init.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/layer/normalize.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/model/optional_dropout.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct Gpt2Options {
  int layers = 12;         ///< transformer blocks
  int heads = 12;          ///< attention heads in each block; must divide the width
  int width = 768;         ///< features of a row of activations
  int vocabulary = 50257;  ///< ids are in [0, vocabulary)
  int positions = 1024;    ///< rows of the longest sequence, each with a learned embedding
  double dropout = 0.0;    ///< dropout probability of embeddings, attention and block halves
  /// The head's matmuls are padded to a multiple of this many ids; matrix instructions run best
  /// with 64 or 128 (50257 becomes 50304). The padding is zeros and exists only in the arena: the
  /// loss and all files use the unpadded vocabulary.
  int vocabulary_multiple = 1;

  /// Rows of zeros after the embedding's last, so that the number of rows is a multiple.
  constexpr int vocabulary_padding() const {
    const int multiple = vocabulary_multiple < 1 ? 1 : vocabulary_multiple;
    return (multiple - vocabulary % multiple) % multiple;
  }
  SINTER_FIELDS((layers).at_least(1), (heads).at_least(1), (width).at_least(1),
                (vocabulary).at_least(1), (positions).at_least(1), (dropout).at_least(0).below(1),
                (vocabulary_multiple).at_least(1))
};

namespace detail {
namespace gpt2 {

/// A linear layer that writes to the residual stream; initial weights are smaller by √(2 × layers).
template <int Layers>
inline constexpr LinearOptions residual{.weight =
                                            Init::normal(float(.02 / square_root(2. * Layers)))};

/// The embeddings of tokens and positions, and dropout.
template <Gpt2Options O, int W = O.width, float P = float(O.dropout)>
struct Embed {
  static constexpr Value<W> trace(auto& g, Ids tokens) {
    auto x = g("wte", Embedding<O.vocabulary, W, O.vocabulary_padding()>{}, tokens);
    return optional_dropout<W, P>(g, "drop", g("wpe", AddPosition<O.positions, W>{}, x));
  }
};

/// A transformer block: attention and a perceptron 4 W wide, each after a norm.
template <int W, int Heads, int Layers, float P>
struct Block {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto n = g("ln_1", LayerNorm<W>{}, x);
    auto qkv = g("attn.c_attn", Linear<W, 3 * W>{}, n);
    auto mixed = g("attn", CausalSelfAttention<W, Heads, P>{}, qkv);
    auto attended = g("attn.c_proj", Linear<W, W, residual<Layers>>{}, mixed);
    auto [h, m] =
        g("ln_2", AddLayerNorm<W>{}, x, optional_dropout<W, P>(g, "attn.resid_dropout", attended));
    auto wide = g("mlp.act", GeluTanh<4 * W>{}, g("mlp.c_fc", Linear<W, 4 * W>{}, m));
    auto narrow = g("mlp.c_proj", Linear<4 * W, W, residual<Layers>>{}, wide);
    return g("add", Add<W>{}, h, optional_dropout<W, P>(g, "mlp.dropout", narrow));
  }
};

/// The final norm and the loss over logits, whose weight is the token embedding.
template <Gpt2Options O, int W = O.width>
struct Head {
  static constexpr Value<1> trace(auto& g, Value<W> x, Ids targets) {
    auto n = g("", LayerNorm<W>{}, x);
    using Loss = LinearCrossEntropy<O.vocabulary, W, O.vocabulary_padding()>;
    return g.tied("lm_head", "wte", Loss{}, n, targets);
  }
};

/// The final norm and the logits of the token after each sequence.
template <Gpt2Options O, int W = O.width>
struct NextToken {
  static constexpr Value<O.vocabulary> trace(auto& g, Value<W> x) {
    auto last = g("last", LastRow<W>{}, x);
    return g.tied("lm_head", "wte", Unembedding<O.vocabulary, W>{}, g("", LayerNorm<W>{}, last));
  }
};

SINTER_RULE(HeadsDivideWidth, R::model::options.width % R::model::options.heads == 0,
            "Gpt2: heads does not divide width. Why: each head attends with width / heads numbers. "
            "Fix: choose a width that is a multiple of heads, such as 64 for each.");
SINTER_RULE(ContextWithinPositions, R::data::context <= R::model::options.positions,
            "Gpt2: the data's context is beyond the model's positions. Why: each place in a "
            "sequence has a learned embedding, and there are only `positions` of them. Fix: a "
            "larger .positions in Gpt2, or a smaller .context in the data.");
SINTER_RULE(
    VocabularyHoldsData, R::data::vocabulary <= R::model::options.vocabulary,
    "Gpt2: the model's vocabulary is smaller than the data's. Why: the data has ids that the model "
    "has no embedding for. Fix: make .vocabulary at least that of the data (256 for Bytes).");

/// The files of GPT2LMHeadModel. `master_bytes`: bytes of one master weight.
HuggingFace files_of(const Gpt2Options& o, std::size_t master_bytes, bool of_gpt2s_ids);

}  // namespace gpt2
}  // namespace detail

/// GPT-2: a decoder-only transformer with GELU (tanh), learned positions and a head tied to the
/// token embedding. Names and initial values are Hugging Face's (GPT2LMHeadModel).
template <Gpt2Options O = {}>
struct Gpt2 {
  using slot = slot::model;
  using Options = Gpt2Options;
  using rules = RuleList<detail::gpt2::HeadsDivideWidth, detail::gpt2::ContextWithinPositions,
                         detail::gpt2::VocabularyHoldsData>;
  static constexpr Options options = O;

  static constexpr void trace(auto& g) {
    auto tokens = g.tokens(), targets = g.targets();
    auto embedded = g.unit("", detail::gpt2::Embed<O>{}, tokens);
    auto x = blocks(g, embedded);
    g.result(g.tied_unit("ln_f", embedded, detail::gpt2::Head<O>{}, x, targets));
  }
  static constexpr void predict(auto& g) {
    auto embedded = g.unit("", detail::gpt2::Embed<O>{}, g.tokens());
    auto x = blocks(g, embedded);
    g.result(g.tied_unit("ln_f", embedded, detail::gpt2::NextToken<O>{}, x));
  }
  /// The files of GPT2LMHeadModel. Begin and end of text are set only for GPT-2's own 50257 ids.
  template <class R>
  static HuggingFace hugging_face() {
    return detail::gpt2::files_of(options, sizeof(typename R::precision::master),
                                  R::data::vocabulary == 50257);
  }

 private:
  static constexpr Value<O.width> blocks(auto& g, Value<O.width> x) {
    return g.repeat(O.layers, "h",
                    detail::gpt2::Block<O.width, O.heads, O.layers, float(O.dropout)>{}, x);
  }
};

}  // namespace sinter
