// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/architectures.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "hugging_face/class_names.hpp"
#include "model/config_keys.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/model/seq2seq_options.hpp"

namespace sinter::detail::hugging_face {
namespace {

// Defaults of transformers, for keys that a file lacks.
constexpr Gpt2Options gpt2{.dropout = 0.1};
constexpr LlamaOptions llama{.positions = 2048, .eps = 1e-6};
constexpr LlamaOptions mistral{
    .kv_heads = 8, .hidden = 14336, .positions = 131072, .window = 4096, .eps = 1e-6};
constexpr LlamaOptions qwen2{.kv_heads = 32,
                             .hidden = 22016,
                             .vocabulary = 151936,
                             .positions = 32768,
                             .eps = 1e-6,
                             .qkv_biases = true};
constexpr BertOptions bert{}, bert_of_classes{.labels = 2},
    bert_of_tokens{.labels = 2, .label_kind = LabelKind::class_of_token};
constexpr DistilBertOptions distilbert{}, distilbert_of_classes{.labels = 2},
    distilbert_of_tokens{.labels = 2, .label_kind = LabelKind::class_of_token};
constexpr RobertaOptions roberta{.positions = 510, .types = 2, .epsilon = 1e-12};
constexpr RobertaOptions roberta_of_classes = [] {
  RobertaOptions o = roberta;
  o.labels = 2;
  return o;
}();
constexpr Seq2SeqOptions bart{.encoder_layers = 12,
                              .decoder_layers = 12,
                              .heads = 16,
                              .width = 1024,
                              .hidden = 4096,
                              .position_offset = 2,
                              .encoder_norm = EmbeddingNorm::after_positions,
                              .decoder_norm = EmbeddingNorm::after_positions,
                              .start = 2,
                              .end = 2,
                              .pad = 1};
constexpr Seq2SeqOptions blenderbot_small{.encoder_layers = 8,
                                          .decoder_layers = 8,
                                          .heads = 16,
                                          .positions = 512,
                                          .encoder_norm = EmbeddingNorm::after_positions,
                                          .decoder_norm = EmbeddingNorm::before_positions,
                                          .start = 1,
                                          .end = 2,
                                          .pad = 0};
constexpr Seq2SeqOptions marian{.encoder_layers = 12,
                                .decoder_layers = 12,
                                .heads = 16,
                                .width = 1024,
                                .hidden = 4096,
                                .vocabulary = 58101,
                                .position = Positions::sinusoidal,
                                .start = 58100,
                                .end = 0,
                                .pad = 58100};

/// Reads a model. Its options are those of `Usual` where the file lacks them.
template <const auto& Usual>
FolderModel read(Config& config, bool has_tokenizer) {
  auto o = Usual;
  ConfigKeys keys(config, has_tokenizer);
  walk(keys, o);
  std::string name = sinter::detail::short_type_name<decltype(o)>();
  name.resize(name.size() - std::string_view("Options").size());
  FolderModel model{.policy = policy_text(name, o),
                    .vocabulary = o.vocabulary,
                    .positions = o.positions,
                    .parameters = keys.parameters};
  if constexpr (requires { o.labels; }) {
    model.learns = o.labels > 0 ? Learns::labels : Learns::hidden_tokens;
    model.labels = o.labels;
    model.label_kind = o.label_kind;
    if (const Config::Json* names = config.find("id2label"); names && o.labels > 0)
      model.class_names = class_names_of({{"id2label", *names}});
    if (std::ssize(model.class_names) != o.labels) model.class_names.clear();
  }
  if constexpr (requires { o.pairs; }) model.types = o.pairs;
  if constexpr (std::same_as<decltype(o), RobertaOptions>) model.marks = TextMarks::roberta;
  if constexpr (requires { o.start; }) {
    model.learns = Learns::replies;
    model.start = o.start;
  }
  return model;
}

/// Reads a body, the model without its head. A head that is the table of embeddings is never missing.
template <const auto& Usual>
FolderModel read_body(Config& config, bool has_tokenizer) {
  FolderModel model = read<Usual>(config, has_tokenizer);
  const bool has_head =
      model.learns == Learns::next_tokens && config.flag("tie_word_embeddings", false);
  if (!has_head)
    config.note(
        fmt::format("{} is a body: its weights {}, and says so.", config.architecture(),
                    model.learns == Learns::replies
                        ? "lack final_logits_bias, so that train starts it at 0"
                        : "have no head for this model, so that train starts the head fresh"));
  return model;
}

/// Reads a body which becomes a classifier of sequences if the file says anything of labels.
template <const auto& Usual, const auto& Classifier>
FolderModel read_encoder(Config& config, bool has_tokenizer) {
  for (const char* key : {"problem_type", "num_labels", "id2label"})
    if (config.find(key)) return read_body<Classifier>(config, has_tokenizer);
  return read_body<Usual>(config, has_tokenizer);
}

constexpr Architecture all[] = {
    {"GPT2LMHeadModel", read<gpt2>},
    {"GPT2Model", read<gpt2>},  // its head is the table of embeddings
    {"LlamaForCausalLM", read<llama>},
    {"LlamaModel", read_body<llama>},
    {"MistralForCausalLM", read<mistral>},
    {"MistralModel", read_body<mistral>},
    {"Qwen2ForCausalLM", read<qwen2>},
    {"Qwen2Model", read_body<qwen2>},
    {"BertForMaskedLM", read<bert>},
    {"BertModel", read_encoder<bert, bert_of_classes>},
    {"BertForPreTraining", read<bert>},
    {"BertForSequenceClassification", read<bert_of_classes>},
    {"BertForTokenClassification", read<bert_of_tokens>},
    {"DistilBertForMaskedLM", read<distilbert>},
    {"DistilBertModel", read_encoder<distilbert, distilbert_of_classes>},
    {"DistilBertForSequenceClassification", read<distilbert_of_classes>},
    {"DistilBertForTokenClassification", read<distilbert_of_tokens>},
    {"RobertaForMaskedLM", read<roberta>},
    {"RobertaModel", read_encoder<roberta, roberta_of_classes>},
    {"RobertaForSequenceClassification", read<roberta_of_classes>},
    {"BartForConditionalGeneration", read<bart>, true},
    {"BartModel", read_body<bart>, true},
    {"BlenderbotSmallForConditionalGeneration", read<blenderbot_small>, true},
    {"BlenderbotSmallModel", read_body<blenderbot_small>, true},
    {"MarianMTModel", read<marian>, true},
    {"MarianModel", read_body<marian>, true},
};

constexpr double parameters_below = 0x1p40;  // and their bytes fit an int64 with any state

/// Refuses what none of the models supports, and what only models of the other kind do.
void refuse_for_all(Config& config, bool has_encoder) {
  config.only("is_encoder_decoder", has_encoder);
  if (!has_encoder) config.only("add_cross_attention", false);
  if (const Config::Json* heads = config.find("pruned_heads"); heads && !heads->empty())
    config.refuse("pruned_heads is " + shown(*heads) + "; Sinter has as many heads in each block");
  if (config.find("quantization_config"))
    config.refuse(
        "quantization_config is there, so the weights are quantised; Sinter reads them as floating "
        "point numbers alone");
}

}  // namespace

std::span<const Architecture> architectures() { return all; }

FolderModel read_model(Config& config, bool has_tokenizer, const std::string& folder) {
  const auto found = std::ranges::find(all, config.architecture(), &Architecture::name);
  if (found == std::end(all)) {
    std::vector<std::string_view> names;
    for (const Architecture& known : all) names.push_back(known.name);
    throw FileError(
        fmt::format("Cannot write a recipe for {}: its architecture is {}, which Sinter does not "
                    "have. It has {}.",
                    folder, printable(config.architecture()), fmt::join(names, ", ")));
  }
  refuse_for_all(config, found->has_encoder);
  FolderModel model = found->read(config, has_tokenizer);
  if (model.parameters >= parameters_below)
    config.refuse(fmt::format(
        "the model has {} parameters; Sinter plans fewer than {}",
        model.parameters < 0x1p62 ? thousands(std::int64_t(model.parameters)) : "too many",
        thousands(std::int64_t(parameters_below))));
  if (config.problems().empty()) return model;
  throw FileError(fmt::format(
      "Cannot write a recipe for {} ({}): its config.json asks for what Sinter does not "
      "do, or says what cannot be.\n  {}\nTake a model without that, or correct "
      "config.json if it is wrong.",
      folder, found->name, fmt::join(config.problems(), "\n  ")));
}

}  // namespace sinter::detail::hugging_face
