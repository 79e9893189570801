// SPDX-License-Identifier: Apache-2.0
#include "model/config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "files/json.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t(1) << 20;

std::string allowed(const Range& range) {
  const TextBuilder bounds = range.text();
  return std::string(bounds.view());
}

/// The class that is meant where a file has only its kind of model; empty if that is not known.
std::string usual_architecture(const Config& config) {
  constexpr std::pair<std::string_view, std::string_view> usual[]{
      {"gpt2", "GPT2LMHeadModel"},
      {"llama", "LlamaForCausalLM"},
      {"mistral", "MistralForCausalLM"},
      {"qwen2", "Qwen2ForCausalLM"},
      {"bert", "BertForMaskedLM"},
      {"distilbert", "DistilBertForMaskedLM"},
      {"roberta", "RobertaForMaskedLM"},
      {"bart", "BartForConditionalGeneration"},
      {"marian", "MarianMTModel"},
      {"blenderbot-small", "BlenderbotSmallForConditionalGeneration"}};
  constexpr std::pair<std::string_view, std::string_view> of_classes[]{
      {"bert", "BertForSequenceClassification"},
      {"distilbert", "DistilBertForSequenceClassification"},
      {"roberta", "RobertaForSequenceClassification"}};
  const Config::Json* type = config.find("model_type");
  if (!type) return "";
  if (config.find("id2label") || config.find("num_labels"))
    for (const auto& [kind, name] : of_classes)
      if (*type == kind) return std::string(name);
  for (const auto& [kind, name] : usual)
    if (*type == kind) return std::string(name);
  return "";
}

}  // namespace

std::string shown(const Config::Json& value) {
  return printable(value.dump(-1, ' ', false, Config::Json::error_handler_t::replace), 80);
}

Config::Config(const std::filesystem::path& file) {
  auto refused = [&](const std::string& why) {
    return FileError(
        fmt::format("Cannot read {}: {}. Expected the config.json of a model, as "
                    "save_pretrained of transformers writes it.",
                    printable(file.string(), 4096), why));
  };
  try {
    json_ = parse_json(read_file(file, largest_file));
  } catch (const JsonError& error) {
    throw refused(fmt::format("it is not JSON ({})", error.what()));
  }
  if (!json_.is_object()) throw refused(fmt::format("it is {}, and no object", shown(json_)));
  const Json* names = find("architectures");
  if (!names) {
    architecture_ = usual_architecture(*this);
    if (architecture_.empty())
      throw refused(
          "it has no \"architectures\", such as [\"GPT2LMHeadModel\"], and no \"model_type\" that "
          "Sinter knows");
    note(fmt::format("config.json names no architecture; by its other keys it is {}.",
                     architecture_));
    return;
  }
  if (!names->is_array() || names->empty() || !names->front().is_string())
    throw refused(fmt::format("\"architectures\" is {}, and no list of names", shown(*names)));
  architecture_ = names->front().get<std::string>();
}

const Config::Json* Config::find(std::string_view key) const {
  const Json* at = &json_;
  while (true) {
    const std::size_t dot = key.find('.');
    if (!at->is_object()) return nullptr;
    const auto found = at->find(std::string(key.substr(0, dot)));
    if (found == at->end() || found->is_null()) return nullptr;
    if (dot == key.npos) return &*found;
    at = &*found;
    key.remove_prefix(dot + 1);
  }
}

int Config::whole(std::string_view key, int absent, Range range) {
  const Json* value = find(key);
  if (!value) return absent;
  try {
    if (const int number = integer_of<int>(*value, key); range.holds(number)) return number;
  } catch (const JsonError&) {  // it is said below
  }
  refuse(fmt::format("{} is {}; expected a whole number ({}) that an int can hold", key,
                     shown(*value), allowed(range)));
  return absent;
}

double Config::number(std::string_view key, double absent, Range range) {
  const Json* value = find(key);
  if (!value) return absent;
  if (value->is_number() && range.holds(value->get<double>())) return value->get<double>();
  refuse(fmt::format("{} is {}; expected a number ({})", key, shown(*value), allowed(range)));
  return absent;
}

bool Config::flag(std::string_view key, bool absent) {
  const Json* value = find(key);
  if (!value) return absent;
  if (value->is_boolean()) return value->get<bool>();
  refuse(fmt::format("{} is {}; expected true or false", key, shown(*value)));
  return absent;
}

std::string Config::word(std::string_view key, std::string_view absent) {
  const Json* value = find(key);
  if (!value) return std::string(absent);
  if (value->is_string()) return value->get<std::string>();
  refuse(fmt::format("{} is {}; expected a word", key, shown(*value)));
  return std::string(absent);
}

void Config::only(std::string_view key, const Json& can) {
  const Json* value = find(key);
  if (value && *value != can)
    refuse(fmt::format("{} is {}; Sinter has {} alone", key, shown(*value), shown(can)));
}

void Config::refuse(std::string reason) {
  if (std::ranges::find(problems_, reason) == problems_.end())
    problems_.push_back(std::move(reason));
}

}  // namespace sinter::detail::hugging_face
