// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace sinter {

/// The input of a model for `generate`, before it writes, and for a text of `predict`.
struct Prompt {
  std::vector<std::int32_t> tokens;  ///< at least one
  std::int32_t end = -1;             ///< the token that ends the generated text; -1 for none
  /// Maximum tokens of a reply, at least 1. 0 if the model continues the prompt's own text.
  int reply = 0;
  /// The type of each token, for a model that takes types; empty if all are 0.
  std::vector<std::int32_t> types{};
  /// The first tokens of the decoder of an encoder-decoder, whose encoder reads `tokens`; empty for
  /// other models.
  std::vector<std::int32_t> decoder{};
  /// The first token of each word, of a text whose words each have a class; else empty.
  std::vector<std::int32_t> words{};
  bool cut = false;  ///< true if the text was too long, and `tokens` lacks some of it
  std::vector<std::int32_t> more_ends{};  ///< further tokens that end the text, as `end` does
};

}  // namespace sinter
