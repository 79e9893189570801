// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/json_splits.hpp"

#include <algorithm>
#include <array>

#include "data/tokenizer/categories.hpp"
#include "data/tokenizer/normal_forms.hpp"

namespace sinter::detail {
namespace {

SplitBehavior behavior_of(const JsonFields& fields) {
  using enum SplitBehavior;
  struct Named {
    const char* name;
    SplitBehavior behavior;
  };
  constexpr std::array all{Named{"Removed", removed}, Named{"Isolated", isolated},
                           Named{"MergedWithPrevious", merged_with_previous},
                           Named{"MergedWithNext", merged_with_next},
                           Named{"Contiguous", contiguous}};
  const std::string name = fields.text("behavior");
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end())
    fields.refuse("behavior",
                  "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous are");
  return found->behavior;
}

SplitStep step_of(CharacterSet set, SplitBehavior behavior) {
  return {std::make_shared<const TextPattern>(TextPattern::of_set(std::move(set))), behavior};
}

}  // namespace

JsonPattern json_pattern(const JsonFields& fields) {
  const nlohmann::json& pattern = fields.at("pattern");
  if (pattern.is_object() && pattern.size() == 1)
    for (const char* kind : {"Regex", "String"})
      if (pattern.contains(kind) && pattern[kind].is_string() &&
          !pattern[kind].get_ref<const std::string&>().empty())
        return {std::string_view(kind) == "Regex", pattern[kind].get<std::string>()};
  fields.refuse("pattern", "an object with a Regex or a String is");
}

TextPattern text_pattern(const JsonPattern& pattern) {
  return pattern.is_regex ? TextPattern(pattern.text) : TextPattern::of_text(pattern.text);
}

std::optional<SplitStep> read_split_step(const nlohmann::json& component,
                                         const std::string& where) {
  const std::string type = type_of(component, where);
  if (type == "Split") {
    const JsonFields fields(component, where + " Split", {"type", "pattern", "behavior", "invert"});
    return SplitStep{std::make_shared<const TextPattern>(text_pattern(json_pattern(fields))),
                     behavior_of(fields), fields.flag("invert", false)};
  }
  if (type == "Digits") {
    const JsonFields fields(component, where + " Digits", {"type", "individual_digits"});
    const std::uint8_t* const categories = character_categories();
    return step_of(CharacterSet([&](std::uint32_t code) { return categories[code] & digit; }),
                   fields.flag("individual_digits", false) ? SplitBehavior::isolated
                                                           : SplitBehavior::contiguous);
  }
  if (type == "Punctuation") {
    const JsonFields fields(component, where + " Punctuation", {"type", "behavior"});
    const UnicodeTables& tables = UnicodeTables::get();
    return step_of(
        CharacterSet([&](std::uint32_t code) { return tables.has(code, unicode::punctuation); }),
        fields.at("behavior").is_null() ? SplitBehavior::isolated : behavior_of(fields));
  }
  return {};
}

}  // namespace sinter::detail
