// SPDX-License-Identifier: Apache-2.0
// Whether tests break every rule that a header has.
#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace sinter::detail::testing {

/// Checks that each text in quotes in a header of include/, which are its rules, is among those that tests
/// have provoked. Returns how many there are.
inline int check_rules(const std::string& header, const std::set<std::string>& provoked) {
  std::ifstream file(SINTER_SOURCE_DIR "/include/" + header);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string code = std::regex_replace(text, std::regex("#include[^\n]*|//[^\n]*"), "");
  const std::regex quoted("\"([^\"]+)\"");
  int rules = 0;
  for (std::sregex_iterator it(code.begin(), code.end(), quoted), end; it != end; ++it, ++rules)
    CHECK_MESSAGE(provoked.contains((*it)[1]), "no test breaks the rule: " << (*it)[1].str());
  return rules;
}

}  // namespace sinter::detail::testing
