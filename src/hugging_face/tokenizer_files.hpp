// SPDX-License-Identifier: Apache-2.0
// A tokenizer as AutoTokenizer of transformers finds it in an export.
#pragma once
#include <filesystem>
#include <vector>

#include "hugging_face/special_tokens.hpp"

namespace sinter::detail::hugging_face {

/// What a tokenizer's files must fit.
struct TokenizerUse {
  std::string model_type;      // such as "llama"; empty if Hugging Face does not have the model
  std::int64_t positions = 0;  // of the model; 0 if unknown
  bool classifies = false;     // true if the model was trained as LabelledSet prepares texts
};

/// Writes an origin's tokenizer. If it says nothing of how it is used, a tokenizer_config.json is
/// made for it. If the model classifies, and tokenizer.json marks no texts, it gets the marks that
/// the model was trained with.
void write_tokenizer(const Origin& origin, const std::vector<TokenInUse>& tokens,
                     const TokenizerUse& use, const std::filesystem::path& into);

/// Writes a tokenizer whose tokens are bytes. For a model that classifies, it has two marks more.
void write_byte_tokenizer(const TokenizerUse& use, const std::filesystem::path& into);

}  // namespace sinter::detail::hugging_face
