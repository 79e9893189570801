// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "data/tokenizer/json_fields.hpp"
#include "data/tokenizer/split_steps.hpp"

namespace sinter::detail {

/// What a Split or Replace looks for, as {"Regex": …} or {"String": …}.
struct JsonPattern {
  bool is_regex = false;
  std::string text;
};
/// throws    TokenizerProblem
JsonPattern json_pattern(const JsonFields& fields);
TextPattern text_pattern(const JsonPattern& pattern);

/// The step of a component of a tokenizer.json's pre_tokenizer, if it is Split, Digits or Punctuation.
/// throws    TokenizerProblem
std::optional<SplitStep> read_split_step(const nlohmann::json& component, const std::string& where);

}  // namespace sinter::detail
