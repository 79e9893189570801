// SPDX-License-Identifier: Apache-2.0
// A tokenizer with more tokens than a model has.
#pragma once
#include <string>

#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// Returns the tokenizer for a model whose ids are below `vocabulary`. If it has more tokens, its
/// encode() refuses a text in which one occurs that the model does not have.
/// throws    (encode) ArgumentError that names the token and its place in the text
Tokenizer bounded_tokenizer(Tokenizer tokenizer, int vocabulary);

/// A token as messages name it: its text and its id.
std::string token_name(const Tokenizer& tokenizer, std::int32_t id);

}  // namespace sinter::detail
