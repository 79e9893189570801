// SPDX-License-Identifier: Apache-2.0
// What BartConfig, BlenderbotSmallConfig and MarianConfig of transformers say, as options of Seq2Seq.
#include <utility>

#include "hugging_face/architectures.hpp"
#include "sinter/model/seq2seq_options.hpp"

namespace sinter::hugging_face {
namespace {

/// What one of these classes takes where a key is absent.
struct Absent {
  int layers, heads, width, hidden, vocabulary, positions;
  int start, end, pad;  // ids
};

/// Parameters that are learnt: neither sinusoids nor final_logits_bias.
double parameters_of(const Seq2SeqOptions& o) {
  const double w = o.width, h = o.hidden, attention = 4 * w * w + 4 * w, norm = 2 * w,
               perceptron = 2 * w * h + w + h;
  const double places =
      o.position == Positions::learned ? 2 * (double(o.positions) + o.position_offset) * w : 0;
  const int norms =
      (o.encoder_norm != EmbeddingNorm::none) + (o.decoder_norm != EmbeddingNorm::none);
  return o.vocabulary * w + places + norms * norm +
         o.encoder_layers * (attention + perceptron + 2 * norm) +
         o.decoder_layers * (2 * attention + perceptron + 3 * norm);
}

/// The number under the encoder's key. The decoder's must be the same.
int read_both(Config& config, const std::string& name, int absent) {
  const std::string encoder = "encoder_" + name, decoder = "decoder_" + name;
  const int taken = config.whole(encoder, absent), other = config.whole(decoder, absent);
  if (taken != other)
    config.refuse(fmt::format("{} is {}, but {} is {}; Sinter has one number for both", encoder,
                              taken, decoder, other));
  return taken;
}

Activation read_activation(Config& config) {
  constexpr std::string_view key = "activation_function";
  const std::string word = config.word(key, "gelu");
  constexpr std::pair<std::string_view, Activation> known[]{
      {"gelu", Activation::gelu_erf}, {"gelu_new", Activation::gelu_tanh},
      {"relu", Activation::relu},     {"silu", Activation::silu},
      {"swish", Activation::silu},    {"tanh", Activation::tanh}};
  for (const auto& [name, activation] : known)
    if (word == name) return activation;
  config.refuse(
      fmt::format("{} is {}; Sinter has \"gelu\", \"gelu_new\", \"relu\", \"silu\", \"swish\", "
                  "which is \"silu\", and \"tanh\"",
                  key, shown(word)));
  return Activation::gelu_erf;
}

/// Whether transformers makes the model without an id.
enum class Without : bool { no, yes };

/// An id below the vocabulary; -1 where the file says null, which is none, or where it is absent and
/// what transformers takes then is beyond the vocabulary, if it does without.
int read_id(Config& config, std::string_view key, int absent, int vocabulary, Without without) {
  if (config.says_null(key)) return -1;
  if (without == Without::yes && !config.find(key) && absent >= vocabulary) return -1;
  const int id = config.whole(key, absent, Range().at_least(0));
  if (id >= vocabulary)
    config.refuse(fmt::format(
        "{} is {}{}, but vocab_size is {}", key, id,
        config.find(key) ? "" : ", as transformers takes it where it is absent", vocabulary));
  return id;
}

/// What all three classes have.
Seq2SeqOptions read_common(Config& config, const Absent& absent, bool has_tokenizer) {
  Seq2SeqOptions o;
  o.encoder_layers = config.whole("encoder_layers", absent.layers);
  o.decoder_layers = config.whole("decoder_layers", absent.layers);
  o.heads = read_both(config, "attention_heads", absent.heads);
  o.width = config.whole("d_model", absent.width);
  o.hidden = read_both(config, "ffn_dim", absent.hidden);
  o.vocabulary = config.whole("vocab_size", absent.vocabulary);
  o.positions = config.whole("max_position_embeddings", absent.positions,
                             Range().at_least(has_tokenizer ? 2 : 1));  // a text and its end
  o.activation = read_activation(config);
  o.scale_embedding = config.flag("scale_embedding", false);
  o.dropout = config.dropout("dropout", 0.1);
  o.attention_dropout = config.dropout("attention_dropout", 0);
  o.activation_dropout = config.dropout("activation_dropout", 0);
  o.start = read_id(config, "decoder_start_token_id", absent.start, o.vocabulary, Without::yes);
  o.end = read_id(config, "eos_token_id", absent.end, o.vocabulary, Without::yes);
  o.pad = read_id(config, "pad_token_id", absent.pad, o.vocabulary, Without::no);

  config.only("encoder_layerdrop", 0);
  config.only("decoder_layerdrop", 0);
  config.only("tie_word_embeddings", true);
  config.only("is_decoder", false);
  // Files that transformers 3 has written say these, too.
  config.only("normalize_before", false);
  config.only("add_final_layer_norm", false);
  if (o.width % o.heads != 0)
    config.refuse(fmt::format("d_model is {}, which encoder_attention_heads, {}, does not divide",
                              o.width, o.heads));
  return o;
}

FolderModel model_of(const Seq2SeqOptions& o) {
  return {.policy = policy_text("Seq2Seq", o),
          .learns = Learns::replies,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .parameters = parameters_of(o),
          .start = o.start};
}

}  // namespace

FolderModel read_bart(Config& config, bool has_tokenizer) {
  constexpr Absent absent{12, 16, 1024, 4096, 50265, 1024, 2, 2, 1};
  Seq2SeqOptions o = read_common(config, absent, has_tokenizer);
  o.position_offset = 2;
  o.encoder_norm = o.decoder_norm = EmbeddingNorm::after_positions;
  config.only("normalize_embedding", true);
  config.only("static_position_embeddings", false);
  config.only("extra_pos_embeddings", o.position_offset);
  config.only("do_blenderbot_90_layernorm", false);
  return model_of(o);
}

FolderModel read_blenderbot_small(Config& config, bool has_tokenizer) {
  constexpr Absent absent{8, 16, 512, 2048, 50265, 512, 1, 2, 0};
  Seq2SeqOptions o = read_common(config, absent, has_tokenizer);
  o.encoder_norm = EmbeddingNorm::after_positions;
  o.decoder_norm = EmbeddingNorm::before_positions;
  config.only("normalize_embedding", true);
  config.only("static_position_embeddings", false);
  config.only("do_blenderbot_90_layernorm", true);
  return model_of(o);
}

FolderModel read_marian(Config& config, bool has_tokenizer) {
  constexpr Absent absent{12, 16, 1024, 4096, 58101, 1024, 58100, 0, 58100};
  Seq2SeqOptions o = read_common(config, absent, has_tokenizer);
  o.position = Positions::sinusoidal;
  config.only("decoder_vocab_size", o.vocabulary);
  config.only("share_encoder_decoder_embeddings", true);
  config.only("normalize_embedding", false);
  config.only("static_position_embeddings", true);
  if (o.width % 2 != 0)
    config.refuse(fmt::format(
        "d_model is {}, an odd number; positions are pairs of a sine and a cosine", o.width));
  return model_of(o);
}

}  // namespace sinter::hugging_face
