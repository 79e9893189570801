// SPDX-License-Identifier: Apache-2.0
// Policies as a recipe's file writes them.
#pragma once
#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/base/type_name.hpp"
#include "sinter/policy/option_checks.hpp"

namespace sinter::detail::hugging_face {

/// A policy: Name<"argument", {.option = value}>.
struct PolicyText {
  std::string name;
  std::vector<std::string> arguments{};  // those before the options
  std::vector<std::string> options{};    // such as ".layers = 4"
};

/// C++ of the policy in lines of at most 96 columns, of which the first begins at `column`.
std::string written(const PolicyText& policy, std::size_t column);

/// C++ of an option's value.
template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}::{}", sinter::detail::short_type_name<T>(), name_of(value));
  } else {
    return fmt::format("{}", value);
  }
}

/// A policy with these options, of which those are written that differ from the defaults.
template <class Options>
PolicyText policy_text(std::string name, const Options& options) {
  std::vector<std::string> usual;
  const Options defaults{};
  for_each_field(defaults,
                 [&](const Field&, const auto& value) { usual.push_back(value_text(value)); });
  PolicyText policy{std::move(name)};
  std::size_t number = 0;
  for_each_field(options, [&](const Field& field, const auto& value) {
    const std::string now = value_text(value);
    if (now != usual[number++]) policy.options.push_back(fmt::format(".{} = {}", field.name, now));
  });
  return policy;
}

}  // namespace sinter::detail::hugging_face
