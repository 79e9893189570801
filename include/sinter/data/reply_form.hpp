// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

/// What the replies of a source's examples are, for an evaluation that writes some.
///
/// The batches of such a source have one of two forms:
///   ids[0] tokens, ids[1] targets               the last targets in a row are the reply, and the tokens
///                                               up to its first target are what is replied to
///   ids[0], axis 1, ids[1] tokens, ids[2] targets   an encoder reads ids[0], a decoder the others
struct ReplyForm {
  /// Returns the text of tokens. Special tokens have none.
  std::function<std::string(std::span<const std::int32_t> tokens)> text;
  std::vector<std::int32_t> ends;  ///< tokens that end a reply
  int most = 0;  ///< maximum tokens of a reply, its end included; 0: what the model has room for
};

namespace detail {
/// Makes the form of replies that end in one of `ends`.
ReplyForm reply_form(const Tokenizer& tokenizer, std::vector<std::int32_t> ends, int most);
}  // namespace detail

}  // namespace sinter
