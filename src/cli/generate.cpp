// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/end_of_text.hpp"
#include "cli/origin.hpp"
#include "cli/output.hpp"
#include "cli/sampling.hpp"
#include "cli/stop_texts.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "cli/weights_fit.hpp"
#include "hugging_face/export_files.hpp"

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

/// The text that is written, and shown as far as it is settled.
class Writing {
 public:
  Writing(const Tokenizer& tokenizer, const Prompt& prompt, const Sampling& sampling, bool shows)
      : tokenizer_(tokenizer), replies_(prompt.reply > 0), stops_(sampling.stops), shows_(shows) {}

  /// Adds a token. False if the text ends here, at a stop.
  bool add(std::int32_t token) {
    std::string piece = text_of(tokenizer_, token);
    if (replies_ && tokens_ == 0 && piece.starts_with(tokenizer_.lead))
      piece.erase(0, tokenizer_.lead.size());
    ++tokens_;
    show(stops_.add(piece));
    return stops_.found().empty();
  }
  /// Shows what was held back, once no token comes any more.
  void end() { show(stops_.rest()); }

  const std::string& text() const { return text_; }
  const std::string& stop() const { return stops_.found(); }
  std::int64_t tokens() const { return tokens_; }

 private:
  void show(const std::string& settled) {
    text_ += settled;
    if (shows_ && !settled.empty()) print_result(settled);
  }

  const Tokenizer& tokenizer_;
  const bool replies_;
  StopTexts stops_;
  const bool shows_;
  std::string text_;
  std::int64_t tokens_ = 0;
};

/// Why a text ended, in the words of other programs.
std::string_view reason_of(GenerationEnd end) {
  return end == GenerationEnd::length ? "length" : "stop";
}

std::string json_of(const Arguments& a, const Writing& writing, const Sampling& sampling,
                    GenerationEnd end) {
  using Json = nlohmann::ordered_json;
  Json result{{"prompt", a.prompt},
              {"text", writing.text()},
              {"tokens", writing.tokens()},
              {"finish_reason", reason_of(end)}};
  if (!writing.stop().empty()) result["stop"] = writing.stop();
  result["seed"] = sampling.options.seed;
  result["temperature"] = sampling.options.temperature;
  result["top_k"] = sampling.options.top_k;
  for (const Setting& setting : sampling.settings)
    result["settings"][setting.name] = Json{{"value", setting.value}, {"from", setting.from}};
  return result.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

int generate(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_data(*recipe, a.verb);
  require_tokenizer_is_used(*recipe, a);
  require_special_tokens_are_put(*recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  const Tokenizer tokenizer = tokenizer_of_model(*recipe, a);
  Prompt prompt = recipe->prompt(tokenizer, a.prompt);
  set_ends(prompt, *recipe, a);
  SamplingFlags flags = a.sampling;
  flags.seed = a.seed;
  const hugging_face::Origin origin = origin_of(*a.weights);
  const Sampling sampling = sampling_by(
      flags,
      origin.generation.is_null() ? hugging_face::generation_of(origin.config) : origin.generation,
      prompt, recipe->plan->vocabulary);
  if (!a.quiet) note_lines(cut_text(prompt, recipe->plan->context));
  TrainerCore trainer(std::move(recipe), {0, a.threads, false, {}, a.scratch});
  const std::string warning = load_weights_of(trainer, a);
  if (!a.quiet) {
    note_lines(warning);
    for (const std::string& note : sampling.notes) note_lines(note + "\n");
    note_lines(sampling.text() + "\n");
  }

  const std::int64_t limit =
      prompt.reply > 0 ? std::min<std::int64_t>(sampling.tokens, prompt.reply) : sampling.tokens;
  if (!a.json) print_result(prompt.reply > 0 ? a.prompt + "\n" : a.prompt);
  Writing writing(tokenizer, prompt, sampling, !a.json);
  const GenerationEnd end =
      sinter::generate(trainer, prompt, limit, sampling.options,
                       [&](std::int32_t token) { return writing.add(token); });
  writing.end();
  if (a.json) {
    print_result(json_of(a, writing, sampling, end));
  } else if (!writing.text().ends_with('\n')) {
    print_result("\n");
  }
  return exit_done;
}

}  // namespace sinter::detail::cli
