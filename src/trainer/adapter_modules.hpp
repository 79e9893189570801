// SPDX-License-Identifier: Apache-2.0
// Which layers adapter_config.json gives an adapter.
#pragma once
#include <span>
#include <string>

#include "files/json.hpp"

namespace sinter::detail {

/// A layer of a recipe, by its name in transformers.
struct AdapterLayer {
  std::string name{};
  bool adapted = false;         // true if it has an adapter
  bool fan_in_fan_out = false;  // true if its weight is stored as in × out
};

/// The entries that choose layers.
inline constexpr const char* layer_entries[]{
    "target_modules", "exclude_modules", "layers_to_transform", "layers_pattern", "fan_in_fan_out"};

/// How these entries of an adapter_config.json differ from a recipe's layers: a line for each entry, that
/// begins with a line break; empty if they agree. An entry that is missing or null says nothing. PEFT's
/// rules decide (check_target_module_exists); its patterns are read as ECMAScript's.
/// layers    those that the recipe does not train whole
std::string wrong_layers(const nlohmann::ordered_json& config,
                         std::span<const AdapterLayer> layers);

}  // namespace sinter::detail
