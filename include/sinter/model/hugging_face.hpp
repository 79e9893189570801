// SPDX-License-Identifier: Apache-2.0
// Hugging Face's description of an architecture and of its files.
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
  /// A list of entries stands for a JSON object; a file's object may have further keys.
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, std::vector<std::string>,
               std::vector<ConfigEntry>>
      value;
  bool decisive = false;  ///< true if a file with another value holds another model
  /// Alternative descriptions of the same model, such as names of older versions. A file that has
  /// the first entry of one of these lists must match that whole list instead of this entry.
  std::vector<std::vector<ConfigEntry>> instead = {};
  /// In an object: true if a file without this entry, or with null, says the same.
  bool usual = false;
};

/// How Hugging Face's files hold a model. A model with options O must use its static member
/// `options` in hugging_face(), not O. Reason: clang 19 reads a double of a template argument from
/// the wrong place at run time, if the type has padding before the double and at its end.
struct HuggingFace {
  std::vector<ConfigEntry> config;            ///< entries of config.json, in its order
  std::string prefix;                         ///< optional prefix of every tensor's name in a file
  std::vector<std::string> ignored_suffixes;  ///< name suffixes of tensors that are not parameters
  std::vector<std::pair<std::string, std::string>>
      aliases;  ///< a tied tensor's name and its owner's name
  /// Heads of this class and of other classes of the architecture; see LoadRules::heads.
  std::vector<std::vector<std::string>> heads = {};
};

}  // namespace sinter
