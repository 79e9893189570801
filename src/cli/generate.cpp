// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/end_of_text.hpp"
#include "cli/output.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"

namespace sinter::detail::cli {

namespace {

/// Returns the text of a token. Tokens beyond the tokenizer's, such as marks of examples, have
/// none.
std::string text_of(const Tokenizer& tokenizer, std::int32_t token) {
  const bool known = tokenizer.vocabulary == 0 || token < tokenizer.vocabulary;
  return known ? tokenizer.decode(token) : "";
}

/// Says what the model does not see of a prompt; empty if it sees all.
std::string cut_text(const Prompt& prompt, int context) {
  if (prompt.cut)
    return fmt::format(
        "the prompt is too long for the recipe's data: the model sees its last {} tokens, marks "
        "included.\n",
        prompt.tokens.size());
  if (!prompt.decoder.empty() || prompt.tokens.size() <= std::size_t(context)) return "";
  return fmt::format("the prompt has {} tokens, and the model sees the last {}: its context.\n",
                     prompt.tokens.size(), context);
}

/// Why a text ended, in the words of other programs.
std::string_view reason_of(GenerationEnd end) {
  return end == GenerationEnd::end_of_text ? "stop" : "length";
}

}  // namespace

int generate(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_data(*recipe, a.verb);
  require_tokenizer_is_used(*recipe, a);
  require_special_tokens_are_put(*recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  SamplingOptions sampling{a.temperature, a.top_k, a.seed.value_or(0)};
  const Tokenizer tokenizer = tokenizer_for(*recipe, a);
  Prompt prompt = recipe->prompt(tokenizer, a.prompt);
  set_ends(prompt, *recipe, a);
  if (!a.quiet) note_lines(cut_text(prompt, recipe->plan->context));
  TrainerCore trainer(std::move(recipe), {0, a.threads, false, {}, a.scratch});
  std::string warning = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  if (!a.quiet) note_lines(warning);

  std::string text;
  std::int64_t written = 0;
  const std::int64_t limit =
      prompt.reply > 0 ? std::min<std::int64_t>(a.tokens, prompt.reply) : a.tokens;
  if (!a.json) print_result(prompt.reply > 0 ? a.prompt + "\n" : a.prompt);
  auto on_token = [&](std::int32_t token) {
    std::string piece = text_of(tokenizer, token);
    if (prompt.reply > 0 && written == 0 && piece.starts_with(tokenizer.lead))
      piece.erase(0, tokenizer.lead.size());
    ++written;
    text += piece;
    if (!a.json) print_result(piece);
  };
  const GenerationEnd end = sinter::generate(trainer, prompt, limit, sampling, on_token);
  if (a.json) {
    nlohmann::ordered_json result{{"prompt", a.prompt},     {"text", text},
                                  {"tokens", written},      {"finish_reason", reason_of(end)},
                                  {"seed", sampling.seed},  {"temperature", sampling.temperature},
                                  {"top_k", sampling.top_k}};
    print_result(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!text.ends_with('\n')) {
    print_result("\n");
  }
  return exit_done;
}

}  // namespace sinter::detail::cli
