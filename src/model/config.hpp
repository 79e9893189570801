// SPDX-License-Identifier: Apache-2.0
// A config.json of transformers, read for what Sinter can do.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/base/range.hpp"

namespace sinter::detail::hugging_face {

/// The values of a config.json. A key that is absent or null has the value that transformers gives
/// it, which the caller says. A key with a dot, such as "rope_scaling.factor", is one of an object.
/// Collects what is not possible, so that one error lists all of it.
class Config {
 public:
  using Json = nlohmann::ordered_json;

  /// throws    FileError if the file cannot be read, is no object of JSON or names no architecture
  explicit Config(const std::filesystem::path& file);

  /// The first of its "architectures", such as "GPT2LMHeadModel".
  const std::string& architecture() const { return architecture_; }
  /// The value under a key; nullptr if it is absent or null.
  const Json* find(std::string_view key) const;
  /// True if the value under a key is null, where transformers distinguishes that from an absent
  /// key.
  bool says_null(std::string_view key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_null();
  }

  /// The values of keys. One that is of another kind or out of its range is refused, and `absent`
  /// returned.
  int whole(std::string_view key, int absent, Range range = Range().at_least(1));
  double number(std::string_view key, double absent, Range range);
  bool flag(std::string_view key, bool absent);
  std::string word(std::string_view key, std::string_view absent);
  /// Reads the probability of a dropout.
  double dropout(std::string_view key, double absent) {
    return number(key, absent, Range().at_least(0).below(1));
  }

  /// Refuses a value that is there and is not `can`.
  void only(std::string_view key, const Json& can);
  /// Refuses the file for this reason, which begins with the key and its value. Once is enough.
  void refuse(std::string reason);
  /// Notes for the user what the recipe does not take over.
  void note(std::string text) { notes_.push_back(std::move(text)); }

  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Json json_;
  std::string architecture_;
  std::vector<std::string> problems_, notes_;
};

/// A value as a message shows it.
std::string shown(const Config::Json& value);

}  // namespace sinter::detail::hugging_face
