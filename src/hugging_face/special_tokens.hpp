// SPDX-License-Identifier: Apache-2.0
// The special tokens of a tokenizer by what transformers uses them for.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hugging_face/origin.hpp"

namespace sinter::detail::hugging_face {

/// A special token in one of its uses.
struct TokenInUse {
  std::string use;   // such as "eos": "eos_token" and "eos_token_id" are keys of transformers
  std::string text;  // such as "</s>"
  std::optional<std::int64_t> id = std::nullopt;
};

/// The special tokens that an origin's tokenizer_config.json or special_tokens_map.json names. If
/// it has neither, those with the usual names, such as "</s>" and "<|endoftext|>" for eos.
std::vector<TokenInUse> tokens_in_use(const Origin& origin);

}  // namespace sinter::detail::hugging_face
