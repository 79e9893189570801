// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/tokenizer/tokenizer.hpp"

#include "sinter/error.hpp"

namespace sinter {

Tokenizer byte_tokenizer() {
  return {.encode =
              [](std::string_view text) {
                std::vector<std::int32_t> tokens;
                for (char c : text) tokens.push_back(static_cast<unsigned char>(c));
                return tokens;
              },
          .decode =
              [](std::int32_t token) {
                if (token < 0 || token > 255)
                  throw ArgumentError("There is no byte " + std::to_string(token) +
                                      "; the tokens of bytes are 0 to 255.");
                return std::string(1, char(token));
              },
          .vocabulary = 256,
          .cuts_at_lines = true,
          .identity = "bytes"};
}

std::vector<std::int32_t> Tokenizer::encode_whole(std::string_view text) const {
  std::vector<std::int32_t> tokens = encode(text);
  tokens.insert(tokens.begin(), before.begin(), before.end());
  tokens.insert(tokens.end(), behind.begin(), behind.end());
  return tokens;
}

std::string Tokenizer::text_of(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (std::size_t k = 0; k < tokens.size(); ++k)
    text += k == 0 && decode_first ? decode_first(tokens[k]) : decode(tokens[k]);
  if (!lead.empty() && text.starts_with(lead)) text.erase(0, lead.size());
  return text;
}

}  // namespace sinter
