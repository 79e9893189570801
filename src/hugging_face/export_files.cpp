// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/export_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "files/json.hpp"
#include "hugging_face/class_names.hpp"
#include "hugging_face/tokenizer_files.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;
using Json = Origin::Json;

/// Keys of an origin that are no longer true: where it was, its code, and another type of weights.
constexpr std::array<std::string_view, 5> not_carried{"_name_or_path", "auto_map", "dtype",
                                                      "torch_dtype", "quantization_config"};
/// Keys whose value is the origin's, even if the recipe writes one that any model may have.
constexpr std::array<std::string_view, 5> of_origin{"initializer_range", "init_std", "bos_token_id",
                                                    "eos_token_id", "pad_token_id"};

bool has(const Json& json, const std::string& key) {
  const auto found = json.find(key);
  return found != json.end() && !found->is_null();
}

/// Adds what only `other` has, also in objects that both have.
void add_missing(Json& json, const Json& other) {
  for (const auto& [key, value] : other.items()) {
    if (!json.contains(key)) {
      json[key] = value;
    } else if (json[key].is_object() && value.is_object()) {
      add_missing(json[key], value);
    }
  }
}

/// Sets the names of classes: those of the data, or the origin's, or those that transformers gives.
void set_labels(Json& config, const Json& origin, const std::vector<std::string>& classes) {
  const auto count = config.at("num_labels").get<std::size_t>();
  const std::vector<std::string> before = class_names_of(origin);
  Json names = Json::object(), ids = Json::object();
  for (std::size_t k = 0; k < count; ++k) {
    const std::string id = std::to_string(k);
    std::string name = before.size() == count ? before[k] : "LABEL_" + id;
    if (classes.size() == count) name = classes[k];
    names[id] = name;
    ids[name] = k;
  }
  config["id2label"] = std::move(names);
  config["label2id"] = std::move(ids);
}

/// True if the config's ids of special tokens are options of the model.
bool says_own_ids(const Json& config) {
  return config.value("is_encoder_decoder", false) || config.value("model_type", "") == "roberta";
}

/// Sets ids of special tokens that neither the origin nor the model's options say. One that the
/// model does not have is none of its config.
void set_special_ids(Json& config, const Json& origin, const std::vector<TokenInUse>& tokens) {
  const bool says_own = says_own_ids(config);
  for (const char* use : {"bos", "eos", "pad"}) {
    const std::string key = std::string(use) + "_token_id";
    if (has(origin, key) || (says_own && config.contains(key))) continue;
    const auto token = std::ranges::find(tokens, use, &TokenInUse::use);
    if (token != tokens.end() && token->id &&
        *token->id < config.value("vocab_size", *token->id + 1))
      config[key] = *token->id;
  }
}

Json config_of(const ExportParts& parts, const std::string& own,
               const std::vector<TokenInUse>& tokens) {
  Json config = parse_json(own), origin = parts.origin.config;
  for (const std::string_view key : not_carried) origin.erase(std::string(key));
  if (!config.contains("num_labels"))  // names of another head's classes
    for (const char* key : {"id2label", "label2id"}) origin.erase(key);
  if (!config.contains("problem_type")) origin.erase("problem_type");  // of a head of sequences
  const bool says_own = says_own_ids(config);
  for (const std::string_view key : of_origin)
    if (const std::string name(key); has(origin, name) && !(says_own && has(config, name)))
      config[name] = origin[name];
  if (config.contains("num_labels")) set_labels(config, origin, parts.classes);
  set_special_ids(config, origin, tokens);
  for (const char* key : {"id2label", "label2id"}) origin.erase(key);
  add_missing(config, origin);
  if (!parts.dtype.empty()) config["torch_dtype"] = parts.dtype;
  if (parts.int8_group > 0)  // transformers then says that it does not know it
    config["quantization_config"] = {{"quant_method", "sinter_int8"},
                                     {"group_size", parts.int8_group}};
  return config;
}

/// True for a class of transformers that has generate().
bool generates(const Json& config) {
  const Json classes = config.value("architectures", Json::array());
  if (classes.empty() || !classes[0].is_string()) return false;
  const auto& name = classes[0].get_ref<const std::string&>();
  constexpr std::array<std::string_view, 4> ends{"LMHeadModel", "ForCausalLM",
                                                 "ForConditionalGeneration", "MTModel"};
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

/// The number of tokens that a model reads at once; 0 if its config does not say it.
std::int64_t positions_in(const Json& config) {
  // RoBERTa's rows up to that of the padding's id are of no position.
  const bool roberta = config.value("model_type", "") == "roberta";
  const std::int64_t unused = roberta ? config.value("pad_token_id", 1) + 1 : 0;
  for (const char* key : {"n_positions", "max_position_embeddings"})
    if (const auto found = config.find(key); found != config.end() && found->is_number_integer())
      return found->get<std::int64_t>() - unused;
  return 0;
}

}  // namespace

Origin::Json generation_of(const Origin::Json& config) {
  Json generation{{"_from_model_config", true}};
  for (const char* key :
       {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id",
        "forced_bos_token_id", "forced_eos_token_id", "bad_words_ids", "max_length", "min_length",
        "num_beams", "length_penalty", "no_repeat_ngram_size", "early_stopping", "do_sample",
        "temperature", "top_k", "top_p", "repetition_penalty"})
    if (has(config, key)) generation[key] = config[key];
  return generation;
}

void write_export_files(const ExportParts& parts, const std::string& own, const fs::path& into) {
  const std::vector<TokenInUse> tokens = tokens_in_use(parts.origin);
  TokenizerUse use;
  if (!own.empty()) {
    const Json config = config_of(parts, own, tokens);
    write_file_atomically(into / "config.json", file_text(config));
    if (generates(config)) {
      const Json& known = parts.origin.generation;
      write_file_atomically(into / "generation_config.json",
                            file_text(known.is_null() ? generation_of(config) : known));
    }
    use = {config.value("model_type", ""), positions_in(config), config.contains("num_labels")};
  }
  if (!parts.origin.tokenizer.empty()) {
    write_tokenizer(parts.origin, tokens, use, into);
  } else if (parts.bytes) {
    write_byte_tokenizer(use, into);
  }
}

}  // namespace sinter::detail::hugging_face
