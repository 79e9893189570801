// SPDX-License-Identifier: Apache-2.0
// Models of SentencePiece, through its library where this build has it.
#pragma once
#include <stdexcept>
#include <string_view>

#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// Sinter was built without the library. what() is as that of a TokenizerProblem, and says what to do.
struct LibraryMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Of the content of a .model.
/// throws    TokenizerProblem, LibraryMissing
Tokenizer read_sentencepiece(std::string_view file);

}  // namespace sinter::detail
