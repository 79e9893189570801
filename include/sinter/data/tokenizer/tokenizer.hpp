// SPDX-License-Identifier: Apache-2.0
// Turns text into the numbers that a model reads, and back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// A tokenizer without its type, as data policies offer it and `generate` uses it.
struct Tokenizer {
  /// Gives the tokens of a text, each at least 0 and below the policy's vocabulary.
  /// throws    ArgumentError that names what no token stands for
  std::function<std::vector<std::int32_t>(std::string_view text)> encode;
  /// Gives the text of one token, which follows the text of those before it. It may be a part of a
  /// character's UTF-8.
  std::function<std::string(std::int32_t token)> decode;
};

/// A tokenizer for which each byte is a token; the vocabulary is 256.
Tokenizer byte_tokenizer();

}  // namespace sinter
