// SPDX-License-Identifier: Apache-2.0
#include "generate/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter::detail {
namespace {

/// True if a prediction has logits of at least `tokens` tokens for what follows each sequence.
bool predicts_what_follows(const Model& model, int tokens) {
  if (model.results.empty()) return true;  // predict() reports it
  const Local& local = model.local(model.results[0]);
  return local.axis == pooled(0) && local.width >= tokens;
}

/// Checks the length of a prompt.
/// throws    ArgumentError if it is longer than this side of an encoder-decoder allows; `larger` says what
///           would be there to build
void check_length(std::string_view side, const std::vector<std::int32_t>& tokens,
                  std::string_view name, int limit, std::string_view larger) {
  if (tokens.size() > std::size_t(limit))
    throw ArgumentError(fmt::format(
        "The prompt has {} tokens for the {}, and the recipe's {} is {}. Shorten it, or "
        "build the recipe with a larger {}.",
        tokens.size(), side, name, limit, larger));
}

/// What gives a plan a larger context.
std::string_view larger_context(const PlanView& plan) {
  return plan.max_texts > 0 ? "one: Generation<{.context = N}>" : "context";
}

}  // namespace

void check_prompt(const PlanView& plan, const Prompt& prompt) {
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
  check_length("encoder", prompt.tokens, "second_context", plan.second_context, "second_context");
  check_length("decoder", prompt.decoder, "context", plan.context, larger_context(plan));
}

std::vector<std::int32_t> ends_of(const Prompt& prompt) {
  std::vector<std::int32_t> ends;
  const auto add = [&](std::int32_t token) {
    if (token >= 0 && std::ranges::find(ends, token) == ends.end()) ends.push_back(token);
  };
  add(prompt.end);
  for (std::int32_t token : prompt.more_ends) add(token);
  return ends;
}

std::int64_t tokens_written(const PlanView& plan, const Prompt& prompt, std::int64_t count) {
  if (prompt.decoder.empty()) return count;
  return std::min(count, plan.context + 1 - std::int64_t(prompt.decoder.size()));
}

void check_extension(const PlanView& plan, std::span<const ExtendedRow> rows,
                     std::span<const int> parents, std::span<const std::int32_t> tokens) {
  if (parents.size() != tokens.size())
    throw ArgumentError(fmt::format("{} parents and {} tokens; each row has one of both.",
                                    parents.size(), tokens.size()));
  const bool decodes = is_encoder_decoder(plan.predicting);
  int text = -1, children = 0;
  for (const int parent : parents) {
    if (parent < 0 || parent >= int(rows.size()))
      throw ArgumentError(
          fmt::format("row {} is no parent: there are {} rows.", parent, rows.size()));
    const ExtendedRow& row = rows[std::size_t(parent)];
    if (row.text < text)
      throw ArgumentError("Rows of one text must stay neighbours, in the order of the texts.");
    children = row.text == text ? children + 1 : 1;
    text = row.text;
    if (children > row.kept)
      throw ArgumentError(fmt::format(
          "A text branches into more than the {} rows that it was added for.", row.kept));
    if (decodes && row.tokens >= plan.context)
      throw ArgumentError(
          fmt::format("the decoder has {} tokens, the recipe's context is {}, and there is no room "
                      "for another. "
                      "End the text, or build the recipe with a larger {}.",
                      row.tokens, plan.context, larger_context(plan)));
  }
}

}  // namespace sinter::detail
