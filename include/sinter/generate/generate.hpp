// Text from a trained language model, token by token.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sinter/trainer/core.hpp"

namespace sinter {

/// temperature: logits are divided by it; 0 takes the likeliest token always. top_k: only the k
/// likeliest are drawn from; 0: all. seed: of the draws.
struct SamplingOptions {
  double temperature = 1;
  int top_k = 0;
  std::uint64_t seed = 0;
};

/// Draws a token: a pure function of its arguments. position: which draw of the seed's it is; each
/// has a random number of its own (SplitMix64), so that a text can be continued. Of equal logits
/// the lower token counts as the likelier. throws  ArgumentError where an option is out of range,
/// NonFiniteError where a logit is NaN or
///         infinite (minus infinity forbids a token)
int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position);

/// Continues a text by `count` tokens; on_token gets each as soon as it is drawn. The model sees
/// the last `context` tokens. requires  a model that takes one token in each row and predicts the
/// next throws    ArgumentError where the recipe is no language model, or `text` is empty
void generate(TrainerCore& trainer, std::vector<std::int32_t> text, std::int64_t count,
              const SamplingOptions& options, const std::function<void(std::int32_t)>& on_token);

}  // namespace sinter
