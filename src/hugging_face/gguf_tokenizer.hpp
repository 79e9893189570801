// SPDX-License-Identifier: Apache-2.0
// A tokenizer as llama.cpp has it in GGUF.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "hugging_face/origin.hpp"

namespace sinter::detail::hugging_face {

/// The entries of a tokenizer.
struct GgufTokenizer {
  std::vector<GgufEntry> entries;
  std::string notes = {};                        // lines on what llama.cpp does otherwise
  std::map<std::string, std::int64_t> ids = {};  // of uses, such as "bos", if no file says them
};

/// Of an origin's tokenizer, for a model with so many ids. A BPE over bytes becomes "gpt2", one of
/// SentencePiece becomes "llama". `special_tokens` is false if the model was trained on texts without
/// the tokens that the tokenizer's files put around them.
/// throws    ArgumentError that names what llama.cpp does not do of this tokenizer; FileError
GgufTokenizer gguf_tokenizer(const Origin& origin, std::int64_t vocabulary,
                             bool special_tokens = true);

/// Of a tokenizer whose tokens are bytes.
GgufTokenizer gguf_byte_tokenizer(std::int64_t vocabulary);

}  // namespace sinter::detail::hugging_face
