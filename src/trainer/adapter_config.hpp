// SPDX-License-Identifier: Apache-2.0
// PEFT's adapter_config.json.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sinter/layer/lora_options.hpp"
#include "sinter/model/hugging_face.hpp"
#include "trainer/adapter_modules.hpp"

namespace sinter::detail {

/// What adapter_config.json says beside the options.
struct AdapterFacts {
  std::string base{};                  // the model's name or path; may be empty
  std::vector<std::string> targets{};  // full names of layers with adapters
  std::vector<std::string> saved{};    // full names of layers that are trained whole
  bool fan_in_fan_out = false;         // true if the layers' weights are stored as in × out
};

/// The text of an adapter_config.json, by whose defaults PEFT fills in what is not in it.
std::string adapter_config_text(const LoraOptions& lora, const AdapterFacts& facts,
                                const HuggingFace& architecture);

/// Checks that the adapters of a folder compute what the recipe's do, in the same layers. Returns a
/// message on what has no effect, or nothing.
/// layers    those that the recipe does not train whole
/// throws    FileError that lists all differences, or reports that the file cannot be read
std::string require_same_adapter(const std::filesystem::path& config, const LoraOptions& lora,
                                 std::span<const AdapterLayer> layers);

}  // namespace sinter::detail
