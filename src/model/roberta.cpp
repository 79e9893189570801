// SPDX-License-Identifier: Apache-2.0
// RobertaConfig of transformers, and the options of Roberta.
#include "sinter/model/roberta.hpp"

#include "model/config_keys.hpp"

namespace sinter::detail {
namespace {

double parameters_of(const RobertaOptions& o) {
  const double w = o.width, embedded = double(o.vocabulary) + o.positions + o.pad + 1 + o.types + 2;
  const double block = 4 * w * w + 2 * w * o.hidden + 9 * w + o.hidden;
  const double head = o.labels > 0 ? o.labels * (w + 1) : 2 * w + o.vocabulary;
  return embedded * w + o.layers * block + w * w + w + head;
}

}  // namespace

void hugging_face::walk(ConfigKeys& keys, RobertaOptions& o) {
  const bool classifies = o.labels > 0;
  keys.named(classifies ? "RobertaForSequenceClassification" : "RobertaForMaskedLM", "roberta");
  keys.whole("vocab_size", o.vocabulary);
  keys.whole("hidden_size", o.width);
  keys.whole("num_hidden_layers", o.layers);
  keys.whole("num_attention_heads", o.heads);
  keys.whole("intermediate_size", o.hidden);
  // transformers counts the rows of the table, also those before the first position.
  int rows = o.positions + o.pad + 1;
  keys.whole("pad_token_id", o.pad, Range().at_least(0).below(o.vocabulary));
  keys.whole("max_position_embeddings", rows,
             Range().at_least(std::int64_t(o.pad) + 1 + (classifies ? 3 : 1)));
  if (keys.file()) o.positions = rows - o.pad - 1;
  keys.whole("type_vocab_size", o.types);
  keys.only("hidden_act", std::string("gelu"));
  keys.only("position_embedding_type", std::string("absolute"));
  keys.number("layer_norm_eps", o.epsilon, Range().above(0));
  keys.dropout(o.dropout, {"hidden_dropout_prob", "attention_probs_dropout_prob"});
  if (classifies)
    keys.reads_dropout("classifier_dropout", o.dropout, o.dropout, "hidden_dropout_prob");
  keys.writes("initializer_range", 0.02);
  keys.only("tie_word_embeddings", true);
  keys.type_of_masters();
  if (classifies) keys.labels(o.labels, o.label_kind);
  keys.reads_only("is_decoder", false);
  keys.divides("num_attention_heads", o.heads, "hidden_size", o.width);
  keys.parameters = parameters_of(o);
}

HuggingFace roberta::files_of(const RobertaOptions& o, std::size_t master_bytes) {
  HuggingFace files{hugging_face::entries_of(o, master_bytes),
                    "roberta.",
                    {"embeddings.position_ids"},
                    {},
                    {{"roberta.pooler."}, {"classifier."}, {"lm_head."}}};
  if (o.labels == 0)
    files.aliases = {{"lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight"},
                     {"lm_head.decoder.bias", "lm_head.bias"}};
  return files;
}

}  // namespace sinter::detail
