// SPDX-License-Identifier: Apache-2.0
// Text from a trained language model, token by token.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/generate/generation_end.hpp"
#include "sinter/generate/sampling.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

namespace detail {
/// A function that gets each token. One that returns nothing never ends the text.
class OnToken {
 public:
  template <std::invocable<std::int32_t> F>
  OnToken(F f) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, std::int32_t>>) {
      call_ = [f = std::move(f)](std::int32_t token) mutable { return f(token), true; };
    } else {
      call_ = std::move(f);
    }
  }
  /// False if the text is to end.
  bool operator()(std::int32_t token) const { return call_(token); }

 private:
  std::function<bool(std::int32_t)> call_;
};
}  // namespace detail

/// Writes up to `count` tokens after a prompt, and passes each to on_token as soon as it is drawn.
/// Ends at Prompt::end or one of Prompt::more_ends, which on_token does not get, or where on_token
/// returns false; it may return nothing. Returns why it ended. Prompt::reply has no effect. The
/// tokens continue Prompt::tokens, and the model sees the last `context` tokens of the whole text.
/// With an encoder-decoder, they continue Prompt::decoder, and the encoder reads Prompt::tokens.
/// The decoder's text keeps its positions, so it ends at `context` tokens.
/// requires  the model takes one token in each row; Prompt::types is empty
/// throws    ArgumentError if the recipe has no vocabulary, or no predict() with a logit of each
///           token for what follows the text;
/// throws    ArgumentError if the prompt has no token, or more than an encoder-decoder takes;
/// throws    ArgumentError if the prompt has decoder tokens for another model, or an
///           encoder-decoder gets none; and what sample() throws
GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options, const detail::OnToken& on_token);

/// Writes tokens after a text, for models other than encoder-decoders.
inline GenerationEnd generate(TrainerCore& trainer, std::vector<std::int32_t> text,
                              std::int64_t count, const SamplingOptions& options,
                              const detail::OnToken& on_token, std::int32_t end = -1) {
  return generate(trainer, Prompt{.tokens = std::move(text), .end = end}, count, options, on_token);
}

}  // namespace sinter
