// SPDX-License-Identifier: Apache-2.0
// A tokenizer whose tokens are letters.
#pragma once
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "support/axes_models.hpp"

namespace sinter::detail::testing {

/// A tokenizer of nine letters, to which the marks of examples add two tokens.
inline Tokenizer letters() {
  Tokenizer tokenizer;
  tokenizer.encode = [](std::string_view text) {
    std::vector<std::int32_t> ids;
    for (const char letter : text) ids.push_back(letter - 'a');
    return ids;
  };
  tokenizer.decode = [](std::int32_t id) { return std::string(1, char('a' + id)); };
  tokenizer.vocabulary = axes_vocabulary - 2;
  tokenizer.identity = "letters";
  return tokenizer;
}

}  // namespace sinter::detail::testing
