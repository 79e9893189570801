// SPDX-License-Identifier: Apache-2.0
// Text from a trained language model, token by token.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

/// How tokens are sampled.
struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it; at 0 the likeliest token is always taken
  int top_k = 0;           ///< only the k likeliest tokens are drawn from; 0 draws from all
  std::uint64_t seed = 0;  ///< seed of the draws
};

/// Why generate() ended.
enum class GenerationEnd {
  length,      ///< all tokens are written, or the decoder has no room for more
  end_of_text  ///< the model drew a token that ends the text
};

namespace detail {
/// Draws a token, as a pure function of its arguments. `position` is the index of the draw: each
/// has a random number of its own (SplitMix64), so that a text can be continued. Of two equal
/// logits, the lower token counts as likelier. A logit of minus infinity forbids its token.
/// throws    ArgumentError if an option is out of range; NonFiniteError if a logit is NaN or plus
///           infinity, or if all tokens are forbidden
int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position);
}  // namespace detail

/// Writes up to `count` tokens after a prompt, and passes each to on_token as soon as it is drawn.
/// Ends at Prompt::end or one of Prompt::more_ends, which on_token does not get. Returns why it
/// ended. Prompt::reply has no effect. The tokens continue Prompt::tokens, and the model sees the
/// last `context` tokens of the whole text. With an encoder-decoder, they continue Prompt::decoder,
/// and the encoder reads Prompt::tokens. The decoder's text keeps its positions, so it ends at
/// `context` tokens.
/// requires  the model takes one token in each row; Prompt::types is empty
/// throws    ArgumentError if the recipe has no vocabulary, or no predict() with a logit of each
///           token for what follows the text;
/// throws    ArgumentError if the prompt has no token, or more than an encoder-decoder takes;
/// throws    ArgumentError if the prompt has decoder tokens for another model, or an
///           encoder-decoder gets none; and what sample() throws
GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options,
                       const std::function<void(std::int32_t)>& on_token);

/// Writes tokens after a text, for models other than encoder-decoders.
inline GenerationEnd generate(TrainerCore& trainer, std::vector<std::int32_t> text,
                              std::int64_t count, const SamplingOptions& options,
                              const std::function<void(std::int32_t)>& on_token,
                              std::int32_t end = -1) {
  return generate(trainer, Prompt{.tokens = std::move(text), .end = end}, count, options, on_token);
}

}  // namespace sinter
