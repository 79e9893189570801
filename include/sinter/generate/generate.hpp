// SPDX-License-Identifier: Apache-2.0
// Text from a trained language model, token by token.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/generate/sampling.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

/// Writes up to `count` tokens after a prompt, and passes each to on_token as soon as it is drawn.
/// Ends at the token Prompt::end, which on_token does not get. Prompt::reply has no effect. The
/// tokens continue Prompt::tokens, and the model sees the last `context` tokens of the whole text.
/// With an encoder-decoder, they continue Prompt::decoder, and the encoder reads Prompt::tokens.
/// The decoder's text keeps its positions, so it ends at `context` tokens.
/// requires  the model takes one token in each row; Prompt::types is empty
/// throws    ArgumentError if the recipe has no vocabulary, or no predict() with a logit of each
///           token for what follows the text;
/// throws    ArgumentError if the prompt has no token, or more than an encoder-decoder takes;
/// throws    ArgumentError if the prompt has decoder tokens for another model, or an
///           encoder-decoder gets none; and what sample() throws
void generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
              const SamplingOptions& options, const std::function<void(std::int32_t)>& on_token);

/// Writes tokens after a text, for models other than encoder-decoders.
inline void generate(TrainerCore& trainer, std::vector<std::int32_t> text, std::int64_t count,
                     const SamplingOptions& options,
                     const std::function<void(std::int32_t)>& on_token, std::int32_t end = -1) {
  generate(trainer, Prompt{.tokens = std::move(text), .end = end}, count, options, on_token);
}

}  // namespace sinter
