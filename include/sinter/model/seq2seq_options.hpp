// SPDX-License-Identifier: Apache-2.0
// Options of Seq2Seq, and rules of recipes with it.
#pragma once
#include <algorithm>

#include "sinter/kernels/activation.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

using kernel::Activation;

/// How an encoder-decoder encodes positions.
enum class Positions : std::uint8_t {
  learned,    ///< a learned embedding of each, in encoder and decoder
  sinusoidal  ///< sines and cosines, which are not learned (AddSinusoids)
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(Positions positions) {
  return positions == Positions::learned ? "learned" : "sinusoidal";
}

/// Where embeddings have a norm.
enum class EmbeddingNorm : std::uint8_t {
  none,
  /// Before positions are added. Embeddings are then not scaled, as a norm removes any scale.
  before_positions,
  after_positions  ///< after positions are added
};
/// The name of a choice, as options print it.
constexpr std::string_view name_of(EmbeddingNorm norm) {
  switch (norm) {
    case EmbeddingNorm::none:
      return "none";
    case EmbeddingNorm::before_positions:
      return "before_positions";
    case EmbeddingNorm::after_positions:
      return "after_positions";
  }
  return "";
}

/// Options of Seq2Seq. The default sizes are those of the first transformer (Vaswani et al. 2017),
/// with BART's vocabulary and positions.
struct Seq2SeqOptions {
  int encoder_layers = 6;                   ///< transformer blocks of the encoder
  int decoder_layers = 6;                   ///< transformer blocks of the decoder
  int heads = 8;                            ///< heads of each attention; must divide the width
  int width = 512;                          ///< features of a row of activations
  int hidden = 2048;                        ///< features of a row inside the perceptron of a block
  int vocabulary = 50265;                   ///< ids of encoder and decoder are in [0, vocabulary)
  int positions = 1024;                     ///< rows of the longest sequence, on each side
  Positions position = Positions::learned;  ///< how positions are encoded
  int position_offset = 0;  ///< rows before the first position in learned tables; BART has 2
  EmbeddingNorm encoder_norm = EmbeddingNorm::none;  ///< norm of the encoder's embeddings
  EmbeddingNorm decoder_norm = EmbeddingNorm::none;  ///< norm of the decoder's embeddings
  Activation activation = Activation::gelu_erf;      ///< activation of perceptrons
  bool scale_embedding = false;   ///< true if token embeddings are multiplied by √width
  double dropout = 0.1;           ///< dropout probability of embeddings and halves of a block
  double attention_dropout = 0;   ///< dropout probability of attention
  double activation_dropout = 0;  ///< dropout probability inside perceptrons
  // Ids that config.json gives to programs that generate; Sinter does not use them. -1: none.
  int start = -1;  ///< id that begins a reply (decoder_start_token_id)
  int end = -1;    ///< id that ends a text (eos_token_id)
  int pad = -1;    ///< id of padding (pad_token_id)
  SINTER_FIELDS((encoder_layers).at_least(1), (decoder_layers).at_least(1), (heads).at_least(1),
                (width).at_least(1), (hidden).at_least(1), (vocabulary).at_least(1),
                (positions).at_least(1), (position), (position_offset).at_least(0), (encoder_norm),
                (decoder_norm), (activation), (scale_embedding), (dropout).at_least(0).below(1),
                (attention_dropout).at_least(0).below(1), (activation_dropout).at_least(0).below(1),
                (start).at_least(-1), (end).at_least(-1), (pad).at_least(-1))
};

namespace detail {
namespace seq2seq {

SINTER_RULE(WidthFits,
            R::model::options.width % R::model::options.heads == 0 &&
                (R::model::options.position == Positions::learned ||
                 R::model::options.width % 2 == 0),
            "Seq2Seq: heads does not divide width, or width is odd with sinusoidal positions. Why: "
            "each head attends with width / heads numbers, and each sine has a cosine. Fix: choose "
            "a width that is an even multiple of heads, such as 64 for each.");
/// The maximum number of rows of a sequence, over both sides.
template <class Data>
constexpr int longest() {
  return std::max(int(Data::context), hook::second_context<Data>);
}
SINTER_RULE(ContextWithinPositions, longest<typename R::data>() <= R::model::options.positions,
            "Seq2Seq: the data's texts or replies are longer than the model's positions. Why: "
            "there are only `positions` places, on each side. Fix: a larger .positions in the "
            "model, or a smaller .text or .label in the data.");
SINTER_RULE(
    VocabularyHoldsData, R::data::vocabulary <= R::model::options.vocabulary,
    "Seq2Seq: the model's vocabulary is smaller than the data's. Why: the data has ids that the "
    "model has no embedding for. Fix: make .vocabulary at least that of the data.");
SINTER_RULE(VocabularyHoldsMarks,
            std::max({R::model::options.start, R::model::options.end, R::model::options.pad}) <
                R::model::options.vocabulary,
            "Seq2Seq: start, end or pad is beyond the vocabulary. Why: they are ids of the model's "
            "embedding, which the exported config.json names. Fix: ids below .vocabulary, or leave "
            "them out.");
SINTER_RULE(OffsetIsOfATable,
            R::model::options.position == Positions::learned ||
                R::model::options.position_offset == 0,
            "Seq2Seq: position_offset with sinusoidal positions. Why: it counts unused rows of a "
            "learned table, and there is none. Fix: leave .position_offset out.");
/// All rules of Seq2Seq.
using Rules = RuleList<WidthFits, ContextWithinPositions, VocabularyHoldsData, VocabularyHoldsMarks,
                       OffsetIsOfATable>;

}  // namespace seq2seq
}  // namespace detail
}  // namespace sinter
