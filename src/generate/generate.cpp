// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "sinter/data/permutation.hpp"
#include "sinter/error.hpp"
#include "sinter/kernels/random.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Returns a random number of 53 bits in [0, 1).
double uniform(std::uint64_t seed, std::uint64_t position) {
  return double(kernel::mix_bits(Permutation::epoch_key(seed, position)) >> 11) * 0x1p-53;
}

/// Checks the arguments of sample().
/// throws    what sample() throws
void check(std::span<const float> logits, const SamplingOptions& options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    throw ArgumentError(
        fmt::format("The temperature is {}; it must be 0 (always the likeliest "
                    "token) or a positive number.",
                    options.temperature));
  if (options.top_k < 0)
    throw ArgumentError(
        fmt::format("top-k is {}; it must be 0 (all tokens) or positive.", options.top_k));
  bool any = false;  // minus infinity is allowed, as it forbids a token
  for (float logit : logits) {
    any |= std::isfinite(logit);
    if (std::isnan(logit) || logit == std::numeric_limits<float>::infinity())
      throw NonFiniteError(
          "The model's prediction is not finite. Its weights are bad; use another "
          "checkpoint.");
  }
  if (!any) throw NonFiniteError("The model's prediction forbids every token.");
}

/// True if a prediction has logits of at least `tokens` tokens for what follows each sequence.
bool predicts_what_follows(const Model& model, int tokens) {
  if (model.results.empty()) return true;  // predict() reports it
  const Local& local = model.local(model.results[0]);
  return local.axis == pooled(0) && local.width >= tokens;
}

/// Checks the length of a prompt.
/// throws    ArgumentError if it is longer than this side of an encoder-decoder allows
void check_length(std::string_view side, const std::vector<std::int32_t>& tokens,
                  std::string_view name, int limit) {
  if (tokens.size() > std::size_t(limit))
    throw ArgumentError(fmt::format(
        "The prompt has {} tokens for the {}, and the recipe's {} is {}. Shorten it, or "
        "build the recipe with a larger {}.",
        tokens.size(), side, name, limit, name));
}

/// Checks a prompt.
/// throws    ArgumentError if the model cannot continue it
void check(const PlanView& plan, const Prompt& prompt) {
  if (plan.vocabulary < 1)
    throw ArgumentError("This recipe's data has no vocabulary, so it generates no text.");
  if (!predicts_what_follows(plan.predicting, plan.vocabulary))
    throw ArgumentError(
        "This recipe's model does not predict what follows a text, so it generates none. Models "
        "that predict the next token do, such as Gpt2.");
  if (prompt.tokens.empty())
    throw ArgumentError("There is no token to continue from. Give at least one.");
  if (!is_encoder_decoder(plan.predicting)) {
    if (!prompt.decoder.empty())
      throw ArgumentError(
          "The prompt has tokens for a decoder, and this recipe's model has no encoder that could "
          "read the others. Give them as one text, without Prompt::decoder.");
    return;
  }
  if (prompt.decoder.empty())
    throw ArgumentError(
        "This recipe's model is an encoder-decoder, and the prompt does not say what its decoder "
        "begins with. Give at least one token in Prompt::decoder.");
  check_length("encoder", prompt.tokens, "second_context", plan.second_context);
  check_length("decoder", prompt.decoder, "context", plan.context);
}

bool ends_text(const Prompt& prompt, std::int32_t token) {
  return token == prompt.end ||
         std::ranges::find(prompt.more_ends, token) != prompt.more_ends.end();
}

}  // namespace

namespace detail {
int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position) {
  check(logits, options);
  std::vector<int> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  auto likelier = [&](int a, int b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  };
  if (options.temperature == 0) return *std::min_element(tokens.begin(), tokens.end(), likelier);
  std::size_t keep =
      options.top_k == 0 ? tokens.size() : std::min<std::size_t>(options.top_k, tokens.size());
  std::partial_sort(tokens.begin(), tokens.begin() + std::ptrdiff_t(keep), tokens.end(), likelier);
  double total = 0;
  std::vector<double> up_to(keep);
  for (std::size_t k = 0; k < keep; ++k)
    up_to[k] = total +=
        std::exp((double(logits[tokens[k]]) - logits[tokens[0]]) / options.temperature);
  double drawn = uniform(options.seed, position) * total;
  std::size_t k = std::size_t(std::upper_bound(up_to.begin(), up_to.end(), drawn) - up_to.begin());
  return tokens[std::min(k, keep - 1)];
}
}  // namespace detail

GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options,
                       const std::function<void(std::int32_t)>& on_token) {
  const PlanView& plan = trainer.plan();
  check(plan, prompt);
  const bool decodes = is_encoder_decoder(plan.predicting);
  std::vector<std::int32_t> text = decodes ? prompt.decoder : prompt.tokens;
  HostBatch batch;
  if (decodes) {
    batch.ids.push_back(prompt.tokens);
    batch.second_starts = {0, std::int32_t(prompt.tokens.size())};
  }
  std::vector<std::int32_t>& seen = batch.ids.emplace_back();
  for (std::int64_t drawn = 0; drawn < count; ++drawn) {
    if (decodes && text.size() > std::size_t(plan.context)) return GenerationEnd::length;
    auto rows = std::min<std::ptrdiff_t>(std::ptrdiff_t(text.size()), plan.context);
    seen.assign(text.end() - rows, text.end());
    batch.starts = {0, std::int32_t(rows)};
    Prediction next = trainer.predict(batch);
    std::size_t known = std::size_t(std::min(plan.vocabulary, next.columns));
    text.push_back(sample(std::span(next.values).first(known), options, std::uint64_t(drawn)));
    if (ends_text(prompt, text.back())) return GenerationEnd::end_of_text;
    on_token(text.back());
  }
  return GenerationEnd::length;
}

}  // namespace sinter
