// SPDX-License-Identifier: Apache-2.0
// What Hugging Face calls an architecture, and how its files hold it.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

/// An entry of config.json.
struct ConfigEntry {
  std::string key;  ///< such as "n_embd"
  /// A list of entries is an object; what a file has there beyond them does not matter.
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<std::string>,
               std::vector<ConfigEntry>>
      value;
  bool decisive = false;  ///< whether a file in which it differs holds another model
  /// What files may say instead, where the same model has other descriptions, such as in older
  /// words: a file that says the first entry of one of these lists is held to all of that list, and
  /// not to this entry.
  std::vector<std::vector<ConfigEntry>> instead = {};
};

/// How Hugging Face's files hold a model. A model with options O reads its static member `options` in
/// hugging_face(), and not O: clang 19 reads a double of a template argument from the wrong place at
/// run time, where the type has padding before the double and at its end.
struct HuggingFace {
  std::vector<ConfigEntry> config;            ///< of config.json, in its order
  std::string prefix;                         ///< a file may have it before every tensor's name
  std::vector<std::string> ignored_suffixes;  ///< of the names of tensors that are no parameters
  std::vector<std::pair<std::string, std::string>>
      aliases;  ///< names of a tied tensor and its owner
  /// Heads that classes of the architecture have, this one and others; see LoadRules::heads.
  std::vector<std::vector<std::string>> heads = {};
};

}  // namespace sinter
