// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/class_names.hpp"

#include <algorithm>

namespace sinter::detail::hugging_face {
namespace {

std::vector<std::string> in_small_letters(std::vector<std::string> names) {
  for (std::string& name : names)
    for (char& letter : name)
      if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
  return names;
}

}  // namespace

std::vector<std::string> class_names_of(const nlohmann::ordered_json& config) {
  const auto by_id = config.find("id2label");
  if (by_id == config.end() || !by_id->is_object()) return {};
  std::vector<std::string> names;
  for (std::size_t k = 0; k < by_id->size(); ++k) {
    const auto name = by_id->find(std::to_string(k));
    if (name == by_id->end() || !name->is_string()) return {};
    names.push_back(name->get<std::string>());
  }
  return names;
}

bool are_reordered(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  std::vector<std::string> left = in_small_letters(one), right = in_small_letters(other);
  if (left == right) return false;
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

Agreement agreement_of(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  if (one.size() != other.size() || one.empty()) return Agreement::none;
  if (are_reordered(one, other)) return Agreement::reordered;
  const std::vector<std::string> left = in_small_letters(one), right = in_small_letters(other);
  if (left == right) return Agreement::same;
  const bool shared = std::ranges::any_of(
      left, [&](const std::string& name) { return std::ranges::find(right, name) != right.end(); });
  return shared ? Agreement::partly : Agreement::none;
}

}  // namespace sinter::detail::hugging_face
