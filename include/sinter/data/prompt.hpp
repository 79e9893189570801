// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace sinter {

/// What `generate` shows to a model before it writes, and `predict` for a text.
struct Prompt {
  std::vector<std::int32_t> tokens;  ///< at least one
  std::int32_t end = -1;             ///< the token that ends what is written; -1 for none
  /// Tokens of a reply at most, at least 1. 0 if the text of the prompt itself goes on.
  int reply = 0;
  /// The type of each token, for a model that takes them; empty where all are 0.
  std::vector<std::int32_t> types{};
  /// What the decoder of an encoder-decoder begins with, which reads `tokens` with its encoder; empty
  /// for other models.
  std::vector<std::int32_t> decoder{};
};

}  // namespace sinter
