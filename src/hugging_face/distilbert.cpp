// SPDX-License-Identifier: Apache-2.0
// What DistilBertConfig of transformers says, as options of DistilBert.
#include "sinter/model/distilbert.hpp"

#include "hugging_face/architectures.hpp"

namespace sinter::hugging_face {
namespace {

double parameters_of(const DistilBertOptions& o) {
  const double w = o.width, embedded = double(o.vocabulary) + o.positions + 2;
  const double block = 4 * w * w + 2 * w * o.hidden + 9 * w + o.hidden;
  const double head = o.labels > 0 ? o.labels * (w + 1) : 2 * w + o.vocabulary;
  return embedded * w + o.layers * block + w * w + w + head;
}

}  // namespace

FolderModel read_distilbert(Config& config, bool) {
  const bool classifies = config.architecture() == "DistilBertForSequenceClassification";
  DistilBertOptions o;
  o.layers = config.whole("n_layers", 6);
  o.heads = config.whole("n_heads", 12);
  o.width = config.whole("dim", 768);
  o.hidden = config.whole("hidden_dim", 3072);
  o.vocabulary = config.whole("vocab_size", 30522);
  o.positions = config.whole("max_position_embeddings", 512, Range().at_least(classifies ? 3 : 1));
  o.dropout = read_dropout(config, {{"dropout", 0.1}, {"attention_dropout", 0.1}});
  o.classifier_dropout = config.dropout("seq_classif_dropout", 0.2);
  if (classifies) o.labels = read_classes(config);
  if (config.flag("sinusoidal_pos_embds", false))
    config.note(
        "sinusoidal_pos_embds is true: transformers leaves the embeddings of positions as they "
        "are, "
        "and here they are trained as all others.");

  config.only("activation", "gelu");
  config.only("tie_word_embeddings", true);
  if (o.width % o.heads != 0)
    config.refuse(fmt::format("dim is {}, which n_heads, {}, does not divide", o.width, o.heads));
  return {.policy = policy_text("DistilBert", o),
          .learns = classifies ? Learns::classes : Learns::hidden_tokens,
          .vocabulary = o.vocabulary,
          .positions = o.positions,
          .parameters = parameters_of(o),
          .classes = o.labels};
}

}  // namespace sinter::hugging_face
