// SPDX-License-Identifier: Apache-2.0
// What GPT2Config of transformers says, as options of Gpt2.
#include "sinter/model/gpt2.hpp"

#include "hugging_face/architectures.hpp"

namespace sinter::hugging_face {

FolderModel read_gpt2(Config& config, bool) {
  Gpt2Options o;
  o.layers = config.whole("n_layer", 12);
  o.heads = config.whole("n_head", 12);
  o.width = config.whole("n_embd", 768);
  o.vocabulary = config.whole("vocab_size", 50257);
  o.positions = config.whole("n_positions", 1024);
  o.dropout =
      read_dropout(config, {{"resid_pdrop", 0.1}, {"embd_pdrop", 0.1}, {"attn_pdrop", 0.1}});

  config.only("activation_function", "gelu_new");
  config.only("layer_norm_epsilon", layer_norm_eps);
  config.only("scale_attn_weights", true);
  config.only("scale_attn_by_inverse_layer_idx", false);
  config.only("tie_word_embeddings", true);
  config.only("n_inner", 4 * std::int64_t(o.width));
  if (o.width % o.heads != 0)
    config.refuse(fmt::format("n_embd is {}, which n_head, {}, does not divide", o.width, o.heads));
  const double w = o.width;
  return {.policy = policy_text("Gpt2", o),
          .learns = Learns::next_tokens,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .parameters =
              (double(o.vocabulary) + o.positions) * w + o.layers * (12 * w + 13) * w + 2 * w};
}

}  // namespace sinter::hugging_face
