// SPDX-License-Identifier: Apache-2.0
// GPT2Config of transformers, and the options of Gpt2.
#include "sinter/model/gpt2.hpp"

#include "model/config_keys.hpp"

namespace sinter::detail {

void hugging_face::walk(ConfigKeys& keys, Gpt2Options& o) {
  keys.named("GPT2LMHeadModel", "gpt2");
  keys.whole("vocab_size", o.vocabulary);
  keys.whole("n_positions", o.positions);
  keys.whole("n_embd", o.width);
  keys.whole("n_layer", o.layers);
  keys.whole("n_head", o.heads);
  const std::int64_t inner = 4 * std::int64_t(o.width);
  keys.reads_only("n_inner", inner);
  keys.write({"n_inner", nullptr, true, {{{"n_inner", inner}}}});
  keys.only("activation_function", std::string("gelu_new"));
  keys.only("layer_norm_epsilon", layer_norm_eps);
  keys.only("scale_attn_weights", true);
  keys.only("scale_attn_by_inverse_layer_idx", false);
  keys.dropout(o.dropout, {"resid_pdrop", "embd_pdrop", "attn_pdrop"});
  keys.writes("initializer_range", 0.02);
  keys.only("tie_word_embeddings", true);
  keys.type_of_masters();
  keys.divides("n_head", o.heads, "n_embd", o.width);
  const double w = o.width;
  keys.parameters = (double(o.vocabulary) + o.positions) * w + o.layers * (12 * w + 13) * w + 2 * w;
}

HuggingFace gpt2::files_of(const Gpt2Options& o, std::size_t master_bytes, bool of_gpt2s_ids) {
  HuggingFace files{hugging_face::entries_of(o, master_bytes),
                    "transformer.",
                    {".attn.bias", ".attn.masked_bias"},
                    {{"lm_head.weight", "wte.weight"}}};
  for (const char* mark : {"bos_token_id", "eos_token_id"}) {
    files.config.push_back({mark, nullptr});
    if (of_gpt2s_ids) files.config.back().value = std::int64_t(50256);
  }
  return files;
}

}  // namespace sinter::detail
