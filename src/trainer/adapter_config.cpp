// SPDX-License-Identifier: Apache-2.0
#include "trainer/adapter_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/json.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

namespace {

using Json = nlohmann::ordered_json;

/// The entries that say nothing of the arithmetic, such as where the adapter comes from, and what its
/// tensors say, too.
constexpr std::array<std::string_view, 12> neutral_keys{
    "auto_mapping",      "base_model_name_or_path",
    "inference_mode",    "megatron_core",
    "modules_to_save",   "peft_version",
    "qalora_group_size", "revision",
    "task_type",         "lora_dropout",
    "init_lora_weights", "ensure_weight_tying"};
/// The entries that must be those of the recipe.
constexpr std::array<std::string_view, 5> checked_keys{"peft_type", "r", "lora_alpha", "use_rslora",
                                                       "bias"};

/// True if another line speaks of an entry, or none needs to.
bool is_known(std::string_view key) {
  const auto has = [&](const auto& keys) { return std::ranges::find(keys, key) != std::end(keys); };
  return has(neutral_keys) || has(checked_keys) || has(layer_entries);
}

/// A value in an error, cut where it is long.
std::string shown(const Json& value) { return printable(value.dump(), 60); }

/// True if an entry is at a default that turns a variant off.
bool is_off(const Json& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}
bool is_plain_start(const Json& value) { return value.is_boolean() || value == "gaussian"; }

/// PEFT's word for what a class of transformers does; null if it has none.
Json task_of(const HuggingFace& architecture) {
  constexpr std::pair<std::string_view, const char*> endings[]{
      {"ForCausalLM", "CAUSAL_LM"},
      {"LMHeadModel", "CAUSAL_LM"},
      {"ForConditionalGeneration", "SEQ_2_SEQ_LM"},
      {"MTModel", "SEQ_2_SEQ_LM"},
      {"ForSequenceClassification", "SEQ_CLS"},
      {"ForTokenClassification", "TOKEN_CLS"}};
  for (const ConfigEntry& entry : architecture.config)
    if (const auto* names = std::get_if<std::vector<std::string>>(&entry.value);
        names && entry.key == "architectures" && !names->empty())
      for (const auto& [ending, task] : endings)
        if (names->front().ends_with(ending)) return task;
  return nullptr;
}

}  // namespace

std::string adapter_config_text(const LoraOptions& lora, const AdapterFacts& facts,
                                const HuggingFace& architecture) {
  const Json base = facts.base.empty() ? Json() : Json(facts.base);
  const Json saved = facts.saved.empty() ? Json() : Json(facts.saved);
  const Json config{{"base_model_name_or_path", base},
                    {"bias", "none"},
                    {"fan_in_fan_out", facts.fan_in_fan_out},
                    {"inference_mode", true},
                    {"init_lora_weights", true},
                    {"lora_alpha", lora.alpha},
                    {"lora_dropout", lora.dropout},
                    {"modules_to_save", saved},
                    {"peft_type", "LORA"},
                    {"r", lora.rank},
                    {"target_modules", facts.targets},
                    {"task_type", task_of(architecture)},
                    {"use_dora", false},
                    {"use_rslora", lora.rslora}};
  return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string require_same_adapter(const std::filesystem::path& config, const LoraOptions& lora,
                                 std::span<const AdapterLayer> layers) {
  Json found;
  try {
    found = parse_json(read_file(config, 1 << 20));
  } catch (const JsonError& error) {
    throw FileError(fmt::format("Cannot read {}: it is not JSON ({}). Take a complete folder.",
                                config.string(), error.what()));
  }
  if (!found.is_object())
    throw FileError(fmt::format(
        "{} is no JSON object, as PEFT writes one. Take the adapter from a complete folder.",
        config.string()));
  std::string wrong, notes;
  const auto must_be = [&](const char* key, const Json& usual, const Json& own) {
    const Json value = found.value(key, usual);
    if (value == own) return;
    const bool is_there = found.contains(key);
    const std::string stands_for = usual.is_null() ? "" : ", which stands for " + usual.dump();
    wrong += fmt::format("\n  {} is {}, and must be {}", key,
                         is_there ? shown(value) : "missing" + stands_for, own.dump());
  };
  must_be("peft_type", nullptr, "LORA");
  must_be("r", 8, lora.rank);
  must_be("lora_alpha", 8, lora.alpha);
  must_be("use_rslora", false, lora.rslora);
  must_be("bias", "none", "none");
  if (const Json start = found.value("init_lora_weights", Json(true)); !is_plain_start(start))
    wrong += fmt::format("\n  init_lora_weights is {}, which changes the base weights, too",
                         shown(start));
  wrong += wrong_layers(found, layers);
  for (const auto& [key, value] : found.items())
    if (!is_known(key) && !is_off(value))
      wrong +=
          fmt::format("\n  {} is {}, which Sinter does not have", printable(key, 60), shown(value));
  const Json dropout = found.value("lora_dropout", Json(0.0));
  if (!dropout.is_number())
    wrong += fmt::format("\n  lora_dropout is {}, and must be a number", shown(dropout));
  if (!wrong.empty())
    throw FileError(config.string() + " describes other adapters than the recipe's Lora:" + wrong +
                    "\nChange Lora in the recipe, or take another adapter.");
  if (dropout != Json(lora.dropout))
    notes = fmt::format("lora_dropout is {} in {}; the recipe's {} counts.", dropout.dump(),
                        config.string(), lora.dropout);
  return notes;
}

}  // namespace sinter::detail
