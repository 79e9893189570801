// SPDX-License-Identifier: Apache-2.0
// What stands beside a vocabulary in a folder, as transformers reads it: which tokenizer the
// vocabulary belongs to, how that is set, and which tokens are added to it.
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/added_tokens.hpp"
#include "data/tokenizer/vocabulary.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// The contents of these files; empty where there is none.
struct FolderFiles {
  std::string tokenizer_config{}, special_tokens_map{}, added_tokens{}, config{};
};

/// A special token that a class of tokenizers has unless the folder says otherwise.
struct DefaultToken {
  const char *role, *text;
};

class FolderSettings {
  nlohmann::json settings, special_map, added_ids, model;
  struct Token {
    AddedToken added;  // the id is -1 unless a file states it
    bool special = false;
    bool own_role = false;  // of a role that transformers does not know
  };
  class Tokens;

 public:
  /// throws    TokenizerProblem
  explicit FolderSettings(const FolderFiles& files);

  /// Whether any file says something of a tokenizer.
  bool empty() const { return settings.is_null() && special_map.is_null() && added_ids.is_null(); }
  /// Whether there is a tokenizer_config.json.
  bool has_config() const { return !settings.is_null(); }

  /// The class of the tokenizer as a file states it, the same without "Fast" at its end, and the name
  /// of the file; all empty where none states it.
  struct Stated {
    std::string value, name, file;
  };
  Stated tokenizer_class() const;
  /// The kind of model in the config.json; empty if that states none.
  std::string model_type() const;

  /// throws    TokenizerProblem unless the value is true, false or, for `otherwise`, absent or null
  bool flag(const char* key, bool otherwise) const;
  /// Whether tokenizer_config.json has a value that is not null.
  bool has(const char* key) const;
  const nlohmann::json& at(const char* key) const { return settings[key]; }
  /// The text of the token with a role such as "bos_token"; empty if there is none.
  std::string token(const char* role, std::span<const DefaultToken> defaults) const;
  [[noreturn]] void refuse(const char* key, std::string_view understood) const;

  /// The tokens that transformers looks for in a text, with the ids that it gives them: those of the
  /// vocabulary, and for others the next ones. Adds them to the vocabulary, which has had `entries`.
  /// throws    TokenizerProblem, also if a file states another id
  void add_tokens(std::span<const DefaultToken> defaults, std::size_t entries,
                  Vocabulary& vocabulary, std::vector<AddedToken>& added,
                  std::vector<SpecialToken>& special) const;
};

}  // namespace sinter::detail
