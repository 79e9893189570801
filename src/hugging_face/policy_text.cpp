// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/policy_text.hpp"

#include <fmt/ranges.h>

namespace sinter::detail::hugging_face {

std::string written(const PolicyText& policy, std::size_t column) {
  constexpr std::size_t max_columns = 96;
  std::string text = fmt::format("{}<{}", policy.name, fmt::join(policy.arguments, ", "));
  if (policy.options.empty()) return text + ">";
  text += policy.arguments.empty() ? "{" : ", {";
  const std::size_t hang = column + text.size();
  std::size_t at = hang;
  for (std::size_t k = 0; k < policy.options.size(); ++k) {
    const std::string part = policy.options[k] + (k + 1 < policy.options.size() ? "," : "}>");
    if (k > 0 && at + 1 + part.size() > max_columns) {
      text += "\n" + std::string(hang, ' ');
      at = hang;
    } else if (k > 0) {
      text += ' ';
      ++at;
    }
    text += part;
    at += part.size();
  }
  return text;
}

}  // namespace sinter::detail::hugging_face
