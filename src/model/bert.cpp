// SPDX-License-Identifier: Apache-2.0
// BertConfig, DistilBertConfig and RobertaConfig of transformers, and the options of Bert, DistilBert
// and Roberta.
#include "sinter/model/bert.hpp"

#include "model/config_keys.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/roberta.hpp"

namespace sinter::detail {

/// Returns the number of parameters of a model. `more`: rows of tables beside vocabulary and
/// positions.
static double parameters_of(const auto& o, double more) {
  const double w = o.width, embedded = double(o.vocabulary) + o.positions + more + 2;
  const double block = 4 * w * w + 2 * w * o.hidden + 9 * w + o.hidden;
  const double head = o.labels > 0 ? o.labels * (w + 1) : 2 * w + o.vocabulary;
  const bool of_tokens = o.label_kind == LabelKind::class_of_token;  // without a layer before it
  return embedded * w + o.layers * block + (of_tokens ? 0 : w * w + w) + head;
}

/// What the name of a class of transformers ends in.
static std::string ending_of(const auto& o) {
  if (o.labels == 0) return "ForMaskedLM";
  return o.label_kind == LabelKind::class_of_token ? "ForTokenClassification"
                                                   : "ForSequenceClassification";
}

/// The sizes of a model, as BertConfig and RobertaConfig name them.
static void walk_sizes(hugging_face::ConfigKeys& keys, auto& o) {
  keys.whole("vocab_size", o.vocabulary);
  keys.whole("hidden_size", o.width);
  keys.whole("num_hidden_layers", o.layers);
  keys.whole("num_attention_heads", o.heads);
  keys.whole("intermediate_size", o.hidden);
}
/// The keys of both behind that of the positions.
static void walk_rest(hugging_face::ConfigKeys& keys, auto& o) {
  const bool classifies = o.labels > 0;
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
}

void hugging_face::walk(ConfigKeys& keys, BertOptions& o) {
  const bool classifies = o.labels > 0;
  keys.named("Bert" + ending_of(o), "bert");
  walk_sizes(keys, o);
  keys.whole("max_position_embeddings", o.positions, Range().at_least(classifies ? 3 : 1));
  walk_rest(keys, o);
  // MaskedLm prepares batches without types.
  o.pairs = o.types >= 2 && (classifies || !keys.has_tokenizer);
  keys.parameters = parameters_of(o, o.types);
}

void hugging_face::walk(ConfigKeys& keys, RobertaOptions& o) {
  keys.named("Roberta" + ending_of(o), "roberta");
  walk_sizes(keys, o);
  // transformers counts the rows of the table, also those before the first position.
  int rows = o.positions + o.pad + 1;
  keys.whole("pad_token_id", o.pad, Range().at_least(0).below(o.vocabulary));
  keys.whole("max_position_embeddings", rows,
             Range().at_least(std::int64_t(o.pad) + 1 + (o.labels > 0 ? 3 : 1)));
  if (keys.file()) o.positions = rows - o.pad - 1;
  walk_rest(keys, o);
  keys.parameters = parameters_of(o, double(o.pad) + 1 + o.types);
}

void hugging_face::walk(ConfigKeys& keys, DistilBertOptions& o) {
  const bool classifies = o.labels > 0;
  keys.named("DistilBert" + ending_of(o), "distilbert");
  keys.whole("vocab_size", o.vocabulary);
  keys.whole("dim", o.width);
  keys.whole("n_layers", o.layers);
  keys.whole("n_heads", o.heads);
  keys.whole("hidden_dim", o.hidden);
  keys.whole("max_position_embeddings", o.positions, Range().at_least(classifies ? 3 : 1));
  keys.only("activation", std::string("gelu"));
  keys.writes("sinusoidal_pos_embds", false);
  if (keys.file() && keys.file()->flag("sinusoidal_pos_embds", false))
    keys.file()->note(
        "sinusoidal_pos_embds is true: transformers leaves the embeddings of positions as they "
        "are, and here they are trained as all others.");
  keys.dropout(o.dropout, {"dropout", "attention_dropout"});
  keys.dropout(o.classifier_dropout, {"seq_classif_dropout"});
  keys.writes("initializer_range", 0.02);
  keys.writes("tie_weights_", true);
  keys.only("tie_word_embeddings", true);
  keys.type_of_masters();
  if (classifies) keys.labels(o.labels, o.label_kind);
  keys.divides("n_heads", o.heads, "dim", o.width);
  keys.parameters = parameters_of(o, 0);
}

/// Parameter names of norms in older files, each with today's: gamma is the weight, beta the bias.
static std::vector<std::pair<std::string, std::string>> older_names(const BertOptions& o) {
  std::vector<std::string> norms{"bert.embeddings.LayerNorm"};
  for (int k = 0; k < o.layers; ++k)
    for (const char* half : {".attention.output.LayerNorm", ".output.LayerNorm"})
      norms.push_back("bert.encoder.layer." + std::to_string(k) + half);
  if (o.labels == 0) norms.emplace_back("cls.predictions.transform.LayerNorm");
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& norm : norms) {
    names.emplace_back(norm + ".gamma", norm + ".weight");
    names.emplace_back(norm + ".beta", norm + ".bias");
  }
  return names;
}

HuggingFace bert::files_of(const BertOptions& o, std::size_t master_bytes) {
  HuggingFace files{
      hugging_face::entries_of(o, master_bytes),
      "bert.",
      {"embeddings.position_ids"},
      older_names(o),
      {{"bert.pooler."}, {"classifier."}, {"cls.predictions."}, {"cls.seq_relationship."}}};
  if (o.labels > 0) return files;
  files.aliases.emplace_back("cls.predictions.decoder.weight",
                             "bert.embeddings.word_embeddings.weight");
  files.aliases.emplace_back("cls.predictions.decoder.bias", "cls.predictions.bias");
  return files;
}

HuggingFace distilbert::files_of(const DistilBertOptions& o, std::size_t master_bytes) {
  HuggingFace files{hugging_face::entries_of(o, master_bytes),
                    "distilbert.",
                    {"embeddings.position_ids"},
                    {},
                    {{"pre_classifier.", "classifier."}, {"vocab_"}}};
  if (o.label_kind == LabelKind::class_of_token)
    files.heads = {{"classifier."}, {"pre_classifier."}, {"vocab_"}};
  if (o.labels == 0)
    files.aliases = {{"vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"}};
  return files;
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
