// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/architectures.hpp"

#include <algorithm>

#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::hugging_face {
namespace {

constexpr Architecture all[] = {
    {"GPT2LMHeadModel", read_gpt2},
    {"LlamaForCausalLM", read_llama},
    {"MistralForCausalLM", read_mistral},
    {"Qwen2ForCausalLM", read_qwen2},
    {"BertForMaskedLM", read_bert},
    {"BertForPreTraining", read_bert},
    {"BertForSequenceClassification", read_bert},
    {"DistilBertForMaskedLM", read_distilbert},
    {"DistilBertForSequenceClassification", read_distilbert},
    {"BartForConditionalGeneration", read_bart, true},
    {"BlenderbotSmallForConditionalGeneration", read_blenderbot_small, true},
    {"MarianMTModel", read_marian, true},
};

constexpr double parameters_below = 0x1p40;  // and their bytes fit an int64 with any state

/// What none of the models does, and what those of the other kind do alone.
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

int read_classes(Config& config) {
  config.only("problem_type", "single_label_classification");
  const Config::Json* names = config.find("id2label");
  if (names && !names->is_object()) {
    config.refuse(fmt::format("id2label is {}; expected an object of names", shown(*names)));
    names = nullptr;
  }
  const int named = names ? int(names->size()) : 2;
  const int classes = config.whole("num_labels", named);
  if (names && classes != named)
    config.refuse(fmt::format("num_labels is {}, but id2label has {} names", classes, named));
  if (std::min(classes, named) < 2)
    config.refuse(
        fmt::format("num_labels is {}, by which transformers means a regression; Sinter tells at "
                    "least 2 classes apart",
                    std::min(classes, named)));
  return classes;
}

double read_dropout(Config& config, std::initializer_list<DropoutKey> keys) {
  const DropoutKey& first = *keys.begin();
  const double taken = config.dropout(first.name, first.absent);
  for (const DropoutKey& key : keys) {
    const double other = config.dropout(key.name, key.absent);
    if (other != taken)
      config.note(
          fmt::format("The dropout is {}, that of {}: the model has one for all, and {} is {}.",
                      taken, first.name, key.name, other));
  }
  return taken;
}

}  // namespace sinter::hugging_face
