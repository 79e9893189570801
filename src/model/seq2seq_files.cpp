// SPDX-License-Identifier: Apache-2.0
#include "sinter/model/seq2seq_files.hpp"

#include <utility>

namespace sinter::seq2seq {
namespace {

using Text = std::string;

/// What transformers calls an activation; older files say "swish" for SiLU.
ConfigEntry activation_entry(Activation f) {
  const char* const names[]{"gelu_new", "gelu", "relu", "silu", "tanh"};
  ConfigEntry entry{"activation_function", Text(names[int(f)]), true};
  if (f == Activation::silu) entry.instead = {{{"activation_function", Text("swish"), true}}};
  return entry;
}

/// The name of its class, and model_type.
std::pair<Text, Text> names_of(Family family) {
  switch (family) {
    case Family::bart:
      return {"BartForConditionalGeneration", "bart"};
    case Family::blenderbot_small:
      return {"BlenderbotSmallForConditionalGeneration", "blenderbot-small"};
    case Family::marian:
      return {"MarianMTModel", "marian"};
    case Family::none:
      break;
  }
  return {};
}

std::vector<ConfigEntry> config_of(const Seq2SeqOptions& o, std::size_t master_bytes) {
  const auto [name, type] = names_of(family_of(o));
  if (name.empty()) return {};
  auto number = [](std::int64_t n) { return n; };
  std::vector<ConfigEntry> config{{"architectures", std::vector<Text>{name}},
                                  {"model_type", type, true},
                                  {"is_encoder_decoder", true},
                                  {"vocab_size", number(o.vocabulary), true},
                                  {"d_model", number(o.width), true},
                                  {"encoder_layers", number(o.encoder_layers), true},
                                  {"decoder_layers", number(o.decoder_layers), true},
                                  {"encoder_attention_heads", number(o.heads), true},
                                  {"decoder_attention_heads", number(o.heads), true},
                                  {"encoder_ffn_dim", number(o.hidden), true},
                                  {"decoder_ffn_dim", number(o.hidden), true},
                                  {"max_position_embeddings", number(o.positions), true},
                                  activation_entry(o.activation),
                                  {"scale_embedding", o.scale_embedding, true},
                                  {"dropout", o.dropout},
                                  {"attention_dropout", o.attention_dropout},
                                  {"activation_dropout", o.activation_dropout},
                                  {"encoder_layerdrop", 0.0},
                                  {"decoder_layerdrop", 0.0},
                                  {"init_std", 0.02},
                                  {"tie_word_embeddings", true, true},
                                  {"torch_dtype", Text(master_bytes == 8 ? "float64" : "float32")}};
  auto add_id = [&](const char* key, int id) {
    if (id >= 0) config.push_back({key, number(id)});
  };
  add_id("decoder_start_token_id", o.start);
  add_id("eos_token_id", o.end);
  add_id("forced_eos_token_id", o.end);
  if (o.pad >= 0) {
    add_id("pad_token_id", o.pad);
  } else {  // absent, it would be 58100 of Marian, which a smaller vocabulary does not have
    config.push_back({"pad_token_id", nullptr});
  }
  if (type == "marian") {
    config.push_back({"decoder_vocab_size", number(o.vocabulary)});
    config.push_back({"share_encoder_decoder_embeddings", true});
    config.push_back({"static_position_embeddings", true});
  }
  return config;
}

}  // namespace

HuggingFace files_of(const Seq2SeqOptions& o, std::size_t master_bytes) {
  HuggingFace files{config_of(o, master_bytes), "model.", {}, {}, {{"final_logits_bias"}}};
  if (o.position == Positions::sinusoidal) files.ignored_suffixes = {".embed_positions.weight"};
  for (const char* copy :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
    files.aliases.emplace_back(copy, "model.shared.weight");
  return files;
}

}  // namespace sinter::seq2seq
