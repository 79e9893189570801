// SPDX-License-Identifier: Apache-2.0
// What an evaluation asks of the room that generates, which is above this one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/evaluation/reply_writing.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail {

/// An example that is to get a reply.
struct ReplyRequest {
  Prompt prompt;          ///< what is replied to, with the tokens that end a reply
  std::int64_t most = 0;  ///< maximum tokens to write
  std::int64_t number;    ///< of the example in its set, from 0; each has draws of its own
};
/// What was written.
struct TokensOfReply {
  std::vector<std::int32_t> tokens;  ///< without the one that ended it
  bool ended = false;                ///< true if a token ended it, false if the limit did
};

/// Writes a reply for each request. A reply depends on its request alone, not on the others.
/// requires  if predicting communicates, all processes ask for the same replies at the same time
/// throws    what generate() throws
std::vector<TokensOfReply> write_replies(TrainerCore& trainer,
                                         std::span<const ReplyRequest> requests,
                                         const ReplyWriting& writing);

}  // namespace sinter::detail
