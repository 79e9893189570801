// Text as the numbers that a model reads, and back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// A tokenizer without its type, as data policies offer it and `generate` uses it.
struct Tokenizer {
  /// The tokens of a text, each at least 0 and below the policy's vocabulary.
  /// throws  ArgumentError where the text has what no token stands for; it says what that is
  std::function<std::vector<std::int32_t>(std::string_view text)> encode;
  /// The text of one token, which follows the text of those before it. It may be a part of a
  /// letter's UTF-8.
  std::function<std::string(std::int32_t token)> decode;
};

/// Each byte is a token: a vocabulary of 256.
Tokenizer byte_tokenizer();

}  // namespace sinter
