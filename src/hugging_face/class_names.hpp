// SPDX-License-Identifier: Apache-2.0
// The names of classes in a config.json of transformers.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::detail::hugging_face {

/// The names that id2label of a config.json gives to classes, in the order of their numbers. There are
/// none unless it names each number from 0 on.
std::vector<std::string> class_names_of(const nlohmann::ordered_json& config);

/// True if both lists have the same names, and these stand in another order. Small and large letters
/// are the same, as data and folders often differ in them.
bool are_reordered(const std::vector<std::string>& one, const std::vector<std::string>& other);

/// How two lists of as many names are alike.
enum class Agreement {
  none,       // no name is in both
  same,       // each name at its place
  reordered,  // the same names, in another order
  partly      // some names are in both
};
/// Compares names as are_reordered() does. Lists of different lengths agree in none.
Agreement agreement_of(const std::vector<std::string>& one, const std::vector<std::string>& other);

}  // namespace sinter::detail::hugging_face
