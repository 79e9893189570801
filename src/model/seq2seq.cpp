// SPDX-License-Identifier: Apache-2.0
// BartConfig, BlenderbotSmallConfig and MarianConfig of transformers, and the options of Seq2Seq.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/config_keys.hpp"
#include "sinter/model/seq2seq_files.hpp"

namespace sinter::detail {
namespace {

using hugging_face::Config, hugging_face::ConfigKeys, hugging_face::shown;
using seq2seq::Family;

/// Both sides of a number that the model has once.
void walk_both(ConfigKeys& keys, const std::string& name, int& option) {
  const std::string encoder = "encoder_" + name, decoder = "decoder_" + name;
  int other = option;
  keys.whole(encoder, option);
  if (!keys.file()) other = option;
  keys.whole(decoder, other);
  if (option != other)
    keys.file()->refuse(fmt::format("{} is {}, but {} is {}; Sinter has one number for both",
                                    encoder, option, decoder, other));
}

/// What transformers calls an activation; older files say "swish" for SiLU.
void walk_activation(ConfigKeys& keys, Activation& activation) {
  constexpr std::string_view key = "activation_function";
  constexpr std::pair<std::string_view, Activation> known[]{
      {"gelu", Activation::gelu_erf}, {"gelu_new", Activation::gelu_tanh},
      {"relu", Activation::relu},     {"silu", Activation::silu},
      {"swish", Activation::silu},    {"tanh", Activation::tanh}};
  const auto now = std::ranges::find(known, activation, [](const auto& row) { return row.second; });
  ConfigEntry entry{std::string(key), std::string(now->first), true};
  if (activation == Activation::silu) entry.instead = {{{entry.key, std::string("swish"), true}}};
  keys.write(entry);
  if (!keys.file()) return;
  const std::string word = keys.file()->word(key, now->first);
  for (const auto& [name, meant] : known)
    if (word == name) activation = meant;
  if (std::ranges::none_of(known, [&](const auto& row) { return row.first == word; }))
    keys.file()->refuse(
        fmt::format("{} is {}; Sinter has \"gelu\", \"gelu_new\", \"relu\", \"silu\", \"swish\", "
                    "which is \"silu\", and \"tanh\"",
                    key, shown(word)));
}

/// States if transformers makes the model without an id.
enum class Without : bool { no, yes };

/// Reads an id below the vocabulary. It is -1 if the file has null, or if it is absent and
/// transformers' default is beyond the vocabulary and not needed.
void walk_id(ConfigKeys& keys, const char* key, int& id, int vocabulary, Without without) {
  if (id >= 0) {
    keys.writes(key, std::int64_t(id));
  } else if (without == Without::no) {  // absent, it would be what its class takes
    keys.writes(key, nullptr);
  }
  if (!keys.file()) return;
  Config& config = *keys.file();
  const bool said = config.find(key) != nullptr;
  if (config.says_null(key) || (without == Without::yes && !said && id >= vocabulary)) {
    id = -1;
    return;
  }
  id = config.whole(key, id, Range().at_least(0));
  if (id >= vocabulary)
    config.refuse(fmt::format("{} is {}{}, but vocab_size is {}", key, id,
                              said ? "" : ", as transformers takes it where it is absent",
                              vocabulary));
}

void walk_name(ConfigKeys& keys, Family family) {
  switch (family) {
    case Family::bart:
      return keys.named("BartForConditionalGeneration", "bart");
    case Family::blenderbot_small:
      return keys.named("BlenderbotSmallForConditionalGeneration", "blenderbot-small");
    case Family::marian:
      return keys.named("MarianMTModel", "marian");
    case Family::none:
      break;
  }
}

/// What all three classes have.
void walk_common(ConfigKeys& keys, Seq2SeqOptions& o) {
  keys.writes("is_encoder_decoder", true);
  keys.whole("vocab_size", o.vocabulary);
  keys.whole("d_model", o.width);
  keys.whole("encoder_layers", o.encoder_layers);
  keys.whole("decoder_layers", o.decoder_layers);
  walk_both(keys, "attention_heads", o.heads);
  walk_both(keys, "ffn_dim", o.hidden);
  keys.whole("max_position_embeddings", o.positions,
             Range().at_least(keys.has_tokenizer ? 2 : 1));  // a text and its end
  walk_activation(keys, o.activation);
  keys.flag("scale_embedding", o.scale_embedding);
  keys.dropout(o.dropout, {"dropout"});
  keys.dropout(o.attention_dropout, {"attention_dropout"});
  keys.dropout(o.activation_dropout, {"activation_dropout"});
  for (const char* side : {"encoder_layerdrop", "decoder_layerdrop"}) {
    keys.reads_only(side, 0);
    keys.writes(side, 0.0);
  }
  keys.writes("init_std", 0.02);
  keys.only("tie_word_embeddings", true);
  keys.type_of_masters();
  walk_id(keys, "decoder_start_token_id", o.start, o.vocabulary, Without::yes);
  walk_id(keys, "eos_token_id", o.end, o.vocabulary, Without::yes);
  if (o.end >= 0) keys.writes("forced_eos_token_id", std::int64_t(o.end));
  walk_id(keys, "pad_token_id", o.pad, o.vocabulary, Without::no);
  keys.reads_only("is_decoder", false);
  // Files that transformers 3 has written say these, too.
  keys.reads_only("normalize_before", false);
  keys.reads_only("add_final_layer_norm", false);
  keys.divides("encoder_attention_heads", o.heads, "d_model", o.width);
}

}  // namespace

void hugging_face::walk(ConfigKeys& keys, Seq2SeqOptions& o) {
  const Family family = seq2seq::family_of(o);
  walk_name(keys, family);
  walk_common(keys, o);
  const bool is_marian = family == Family::marian;
  if (is_marian) {
    keys.only_now("decoder_vocab_size", std::int64_t(o.vocabulary));
    keys.only_now("share_encoder_decoder_embeddings", true);
    keys.writes("static_position_embeddings", true);
    if (keys.file() && o.width % 2 != 0)
      keys.file()->refuse(fmt::format(
          "d_model is {}, an odd number; positions are pairs of a sine and a cosine", o.width));
  } else {
    keys.reads_only("do_blenderbot_90_layernorm", family == Family::blenderbot_small);
  }
  if (family == Family::bart) keys.reads_only("extra_pos_embeddings", o.position_offset);
  keys.reads_only("normalize_embedding", !is_marian);
  keys.reads_only("static_position_embeddings", is_marian);
  // Parameters without sinusoids and final_logits_bias.
  const double w = o.width, h = o.hidden, attention = 4 * w * w + 4 * w, norm = 2 * w,
               perceptron = 2 * w * h + w + h;
  const double places =
      o.position == Positions::learned ? 2 * (double(o.positions) + o.position_offset) * w : 0;
  const int norms =
      (o.encoder_norm != EmbeddingNorm::none) + (o.decoder_norm != EmbeddingNorm::none);
  keys.parameters = o.vocabulary * w + places + norms * norm +
                    o.encoder_layers * (attention + perceptron + 2 * norm) +
                    o.decoder_layers * (2 * attention + perceptron + 3 * norm);
}

HuggingFace seq2seq::files_of(const Seq2SeqOptions& o, std::size_t master_bytes) {
  HuggingFace files{{}, "model.", {}, {}, {{"final_logits_bias"}}};
  if (family_of(o) != Family::none) files.config = hugging_face::entries_of(o, master_bytes);
  if (o.position == Positions::sinusoidal) files.ignored_suffixes = {".embed_positions.weight"};
  for (const char* copy :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
    files.aliases.emplace_back(copy, "model.shared.weight");
  return files;
}

}  // namespace sinter::detail
