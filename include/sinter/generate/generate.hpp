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

/// How tokens are drawn.
struct SamplingOptions {
  double temperature = 1;  ///< logits are divided by it; at 0 the likeliest token is always taken
  int top_k = 0;           ///< only the k likeliest tokens are drawn from; 0 draws from all
  std::uint64_t seed = 0;  ///< of the draws
};

/// Draws a token, as a pure function of its arguments. `position` says which draw of the seed this
/// is: each has a random number of its own (SplitMix64), so that a text can be continued. Of equal
/// logits the lower token counts as the likelier. A logit of minus infinity forbids its token.
/// throws    ArgumentError if an option is out of range; NonFiniteError if a logit is NaN or plus
///           infinity, or if all tokens are forbidden
int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position);

/// Writes `count` tokens behind a prompt, or fewer: up to the token Prompt::end, which is not given.
/// on_token gets each as soon as it is drawn. They continue Prompt::tokens, of which, with what has
/// been drawn, the model sees the last `context`. Those of an encoder-decoder continue
/// Prompt::decoder, while its encoder reads Prompt::tokens: the text that its decoder has read keeps
/// its positions, so it ends where that is `context` tokens long. Prompt::reply limits nothing here.
/// requires  the model takes one token in each row; Prompt::types is empty
/// throws    ArgumentError if the recipe has no vocabulary, if it has no predict(), or one that does
///           not give a logit of each token for what follows the text; if the prompt has no token, or
///           tokens for a decoder while the model is no encoder-decoder, or none for that of one, or
///           more than an encoder-decoder takes; and what sample() throws
void generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
              const SamplingOptions& options, const std::function<void(std::int32_t)>& on_token);

/// The same for a text without a decoder's.
inline void generate(TrainerCore& trainer, std::vector<std::int32_t> text, std::int64_t count,
                     const SamplingOptions& options,
                     const std::function<void(std::int32_t)>& on_token, std::int32_t end = -1) {
  generate(trainer, Prompt{.tokens = std::move(text), .end = end}, count, options, on_token);
}

}  // namespace sinter
