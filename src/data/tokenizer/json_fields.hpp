// SPDX-License-Identifier: Apache-2.0
// The fields of objects in a tokenizer.json. What is not understood is named, never passed over.
#pragma once
#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/vocabulary.hpp"

namespace sinter::detail {

/// An object of the file with the name that messages give it, such as "its decoder".
class JsonFields {
  const nlohmann::json* object;
  std::string name;

 public:
  /// throws    TokenizerProblem if the value is no object, or has other keys than `known`
  JsonFields(const nlohmann::json& value, std::string name_,
             std::initializer_list<std::string_view> known);

  const std::string& where() const { return name; }
  /// The value of a key; null if there is none.
  const nlohmann::json& at(const char* key) const;
  /// throws    TokenizerProblem unless the value is true, false or, for `otherwise`, absent
  bool flag(const char* key, bool otherwise) const;
  /// throws    TokenizerProblem unless the value is a string
  std::string text(const char* key) const;
  std::int32_t integer(const char* key) const;
  /// throws    TokenizerProblem that shows the value of a key, and says what is understood
  [[noreturn]] void refuse(const char* key, std::string_view understood) const;
};

/// The type of a component such as a pre-tokenizer.
/// throws    TokenizerProblem
std::string type_of(const nlohmann::json& component, std::string_view where);

/// throws    TokenizerProblem that names the component's type
[[noreturn]] void refuse_type(const nlohmann::json& component, const std::string& where,
                              std::string_view understood);

/// A component without its Sequences: what they consist of, in order. `list` is the key of their
/// parts; null has none.
/// throws    TokenizerProblem
std::vector<const nlohmann::json*> flattened(const nlohmann::json& component, const char* list,
                                             const std::string& where);

}  // namespace sinter::detail
