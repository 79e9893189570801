// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter {
using namespace detail;
namespace {

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

/// All tokens that end the text.
std::vector<std::int32_t> ends_of(const Prompt& prompt) {
  std::vector<std::int32_t> ends = prompt.more_ends;
  if (prompt.end >= 0) ends.push_back(prompt.end);
  return ends;
}

}  // namespace

GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options, const OnToken& on_token) {
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
  check_sampling(options, plan.vocabulary);
  const std::size_t begun = text.size();
  const std::int64_t room = plan.context + 1 - std::int64_t(begun);  // of a decoder
  const std::vector<std::int32_t> ends = ends_of(prompt);
  for (std::int64_t drawn = 0; drawn < count; ++drawn) {
    if (decodes && text.size() > std::size_t(plan.context)) return GenerationEnd::length;
    auto rows = std::min<std::ptrdiff_t>(std::ptrdiff_t(text.size()), plan.context);
    seen.assign(text.end() - rows, text.end());
    batch.starts = {0, std::int32_t(rows)};
    Prediction next = trainer.predict(batch);
    next.values.resize(std::size_t(std::min(plan.vocabulary, next.columns)));
    apply_rules(next.values, {text, begun, decodes ? std::min(count, room) : count, ends}, options);
    text.push_back(sample(next.values, options, std::uint64_t(drawn)));
    if (std::ranges::find(ends, text.back()) != ends.end()) return GenerationEnd::end_of_text;
    if (!on_token(text.back())) return GenerationEnd::cancelled;
  }
  return GenerationEnd::length;
}

}  // namespace sinter
