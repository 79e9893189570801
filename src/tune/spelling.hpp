// SPDX-License-Identifier: Apache-2.0
// A policy as one writes it in a recipe.
#pragma once
#include <string>
#include <string_view>

#include "sinter/base/type_name.hpp"
#include "sinter/policy/options.hpp"

namespace sinter::detail::tune {

/// A type with its template arguments, without the namespace sinter, given __PRETTY_FUNCTION__ of a
/// function template of T alone.
std::string type_in(std::string_view function);
template <class T>
std::string type_text() {
  return type_in(__PRETTY_FUNCTION__);
}

/// The value of a field as an expression, such as 8, 0.5, true, full or GradientCompression::bf16.
template <class Value>
std::string value_text(Value value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<Value>) {
    const bool is_scoped = !std::is_convertible_v<Value, int>;
    return (is_scoped ? short_type_name<Value>() + "::" : "") + std::string(name_of(value));
  } else {
    Option option{"", "", false, {}};
    option.value = &value;
    return text_of(option);
  }
}

/// True if P has options that are listed field by field.
template <class P>
constexpr bool has_listed_options() {
  if constexpr (HasOptions<P>) {
    return boost::hana::Struct<std::remove_const_t<decltype(P::options)>>::value;
  } else {
    return false;
  }
}

/// "Batch<{.global = 64, .micro = 4}>": the policy P, with the options that are not their defaults. Of
/// one without options, the type as the compiler spells it.
template <class P>
std::string policy_text() {
  if constexpr (!has_listed_options<P>()) {
    return type_text<P>();
  } else {
    std::string fields;
    auto options = P::options;
    for_each_field(options, [&]<class Value>(const detail::Field& field, Value& value) {
      if (is_default(options, value)) return;
      fields += (fields.empty() ? "{." : ", .") + std::string(field.name) + " = " +
                value_text(detail::value_in(value));
    });
    return short_type_name<P>() + "<" + fields + (fields.empty() ? ">" : "}>");
  }
}

}  // namespace sinter::detail::tune
