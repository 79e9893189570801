// SPDX-License-Identifier: Apache-2.0
// What BertConfig of transformers says, as options of Bert.
#include "sinter/model/bert.hpp"

#include "hugging_face/architectures.hpp"

namespace sinter::hugging_face {
namespace {

double parameters_of(const BertOptions& o) {
  const double w = o.width, embedded = double(o.vocabulary) + o.positions + o.types + 2;
  const double block = 4 * w * w + 2 * w * o.hidden + 9 * w + o.hidden;
  const double head = o.labels > 0 ? o.labels * (w + 1) : 2 * w + o.vocabulary;
  return embedded * w + o.layers * block + w * w + w + head;
}

}  // namespace

FolderModel read_bert(Config& config, bool has_tokenizer) {
  const bool classifies = config.architecture() == "BertForSequenceClassification";
  BertOptions o;
  o.layers = config.whole("num_hidden_layers", 12);
  o.heads = config.whole("num_attention_heads", 12);
  o.width = config.whole("hidden_size", 768);
  o.hidden = config.whole("intermediate_size", 3072);
  o.vocabulary = config.whole("vocab_size", 30522);
  o.positions = config.whole("max_position_embeddings", 512, Range().at_least(classifies ? 3 : 1));
  o.types = config.whole("type_vocab_size", 2);
  o.epsilon = config.number("layer_norm_eps", 1e-12, Range().above(0));
  if (classifies) {
    o.labels = read_classes(config);
    const double hidden = config.dropout("hidden_dropout_prob", 0.1);
    o.dropout = read_dropout(config, {{"hidden_dropout_prob", 0.1},
                                      {"attention_probs_dropout_prob", 0.1},
                                      {"classifier_dropout", hidden}});
  } else {
    o.dropout =
        read_dropout(config, {{"hidden_dropout_prob", 0.1}, {"attention_probs_dropout_prob", 0.1}});
  }
  // MaskedLm prepares batches without types.
  o.pairs = o.types >= 2 && (classifies || !has_tokenizer);

  config.only("hidden_act", "gelu");
  config.only("position_embedding_type", "absolute");
  config.only("is_decoder", false);
  config.only("tie_word_embeddings", true);
  if (o.width % o.heads != 0)
    config.refuse(fmt::format("hidden_size is {}, which num_attention_heads, {}, does not divide",
                              o.width, o.heads));
  return {.policy = policy_text("Bert", o),
          .learns = classifies ? Learns::classes : Learns::hidden_tokens,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .parameters = parameters_of(o),
          .classes = o.labels,
          .types = o.pairs};
}

}  // namespace sinter::hugging_face
