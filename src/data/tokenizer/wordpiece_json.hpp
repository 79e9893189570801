// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "data/tokenizer/json_fields.hpp"
#include "data/tokenizer/wordpiece.hpp"

namespace sinter::detail {

/// Fills in tokens and pieces. `continuing` is what pieces begin with that follow others.
/// throws    TokenizerProblem if the token for unknown words is not in the vocabulary
void set_pieces(WordPieceParts& parts, const Vocabulary& vocabulary, const std::string& unknown,
                const std::string& continuing);

/// Reads normalizer, pre_tokenizer, decoder and post_processor of a tokenizer.json.
/// throws    TokenizerProblem that names what is not understood
void read_components(const JsonFields& file, WordPieceParts& parts);

}  // namespace sinter::detail
