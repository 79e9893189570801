// SPDX-License-Identifier: Apache-2.0
// What an evaluation asks of the room that generates, which is above this one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
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
  /// What the encoder gives for the prompt (EncodedTexts), or nothing if that is not known.
  std::vector<std::byte> encoded{};
};
/// What was written.
struct TokensOfReply {
  std::vector<std::int32_t> tokens;  ///< without the one that ended it
  bool ended = false;                ///< true if a token ended it, false if the limit did
};

/// Writes a reply for each request, with a copy of the trainer's weights and a key-value cache where the
/// recipe plans one (RecipeView::reply_plan()), else with the trainer. What is drawn depends on a request
/// alone, not on the others. `goes_on` is asked before each token, and may be empty; if it returns false,
/// there are no replies.
/// requires  all processes call this at the same time; if there is no reply_plan(), and predicting
///           communicates, with the same requests
/// throws    what generate() throws, and what GeneratorCore::GeneratorCore() throws of memory
std::optional<std::vector<TokensOfReply>> write_replies(TrainerCore& trainer,
                                                        std::span<const ReplyRequest> requests,
                                                        const ReplyWriting& writing,
                                                        const std::function<bool()>& goes_on);

}  // namespace sinter::detail
