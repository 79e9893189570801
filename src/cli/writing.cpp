// SPDX-License-Identifier: Apache-2.0
#include "cli/writing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/end_of_text.hpp"
#include "cli/origin.hpp"
#include "cli/tokenizer.hpp"
#include "generate/prompts.hpp"
#include "hugging_face/export_files.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the text of a token. Tokens beyond the tokenizer's, such as marks of examples, have
/// none.
std::string token_text(const Tokenizer& tokenizer, std::int32_t token) {
  const bool known = tokenizer.vocabulary == 0 || token < tokenizer.vocabulary;
  return known ? tokenizer.decode(token) : "";
}

/// A result as it was written, with its end.
Writing written(const GeneratedText& result, const Asked& asked, const Tokenizer& tokenizer) {
  Writing writing(tokenizer, asked.request.prompt, asked.sampling.stops);
  for (std::int32_t token : result.tokens) writing.add(token);
  writing.end();
  return writing;
}

/// Why a text ended, in the words of other programs.
std::string_view reason_of(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::length:
      return "length";
    case GenerationEnd::cancelled:
      return "cancelled";
    case GenerationEnd::end_of_text:
    case GenerationEnd::stopped:
      break;
  }
  return "stop";
}

}  // namespace

std::string Writing::add(std::int32_t token) {
  std::string piece = token_text(tokenizer_, token);
  if (replies_ && !begun_ && piece.starts_with(tokenizer_.lead))
    piece.erase(0, tokenizer_.lead.size());
  begun_ = true;
  const std::string settled = stops_.add(piece);
  text_ += settled;
  return settled;
}

std::string Writing::end() {
  const std::string rest = stops_.rest();
  text_ += rest;
  return rest;
}

Asking::Asking(std::shared_ptr<RecipeView> recipe, const Arguments& arguments)
    : recipe_(std::move(recipe)),
      plan_(recipe_->generation ? *recipe_->generation()->plan : *recipe_->plan),
      arguments_(arguments),
      tokenizer_(tokenizer_of_model(*recipe_, arguments)),
      flags_(arguments.sampling),
      origin_(origin_of(*arguments.weights)) {
  flags_.seed = arguments.seed;
  generation_ = origin_.generation.is_null() ? hugging_face::generation_of(origin_.config)
                                             : origin_.generation;
  constexpr const char* start = "decoder_start_token_id";
  if (generation_.is_object() && !generation_.contains(start) && origin_.config.contains(start))
    generation_[start] = origin_.config[start];
}

Asked Asking::ask(const std::string& text) const {
  Asked asked{text, {.prompt = recipe_->prompt(tokenizer_, text)}, {}};
  GenerationRequest& request = asked.request;
  if (request.prompt.tokens.empty())
    throw ArgumentError(
        "The prompt is empty, and the model's tokenizer puts no token before a text, so there is "
        "nothing to continue. Give a prompt of at least one token, such as --prompt 'The '.");
  EndsSaid ends = set_ends(request.prompt, *recipe_, arguments_, origin_);
  asked.sampling = sampling_by(flags_, recipe_->sampling, generation_, request.prompt,
                               plan_.vocabulary, room_for(request.prompt));
  add_memory(asked.sampling.settings);
  std::ranges::move(ends.settings, std::back_inserter(asked.sampling.settings));
  std::ranges::move(ends.notes, std::back_inserter(asked.sampling.notes));
  request.tokens = asked.sampling.tokens;
  request.results = asked.sampling.results;
  request.sampling = asked.sampling.options;
  request.beams = asked.sampling.beams;
  if (!asked.sampling.stops.empty())
    request.stop = [this, prompt = request.prompt, stops = asked.sampling.stops](auto tokens) {
      Writing writing(tokenizer_, prompt, stops);
      for (std::int32_t token : tokens) writing.add(token);
      return !writing.stop().empty();
    };
  return asked;
}

Room Asking::room_for(const Prompt& prompt) const {
  Room room;
  room.tokens = tokens_written(plan_, prompt, room.tokens);
  room.from = "the decoder's context";
  if (prompt.reply > 0 && prompt.reply < room.tokens)
    room = {prompt.reply, "the longest reply that is learnt"};
  return room;
}

void Asking::add_memory(std::vector<Setting>& settings) const {
  const bool caches = bool(recipe_->generation);
  settings.push_back({"rows",
                      arguments_.rows.value_or(caches ? plan_.max_texts : rows_without_caches),
                      arguments_.rows                       ? "flag"
                      : caches && says_generation(*recipe_) ? "recipe"
                                                            : "default"});
  const bool quantizes = arguments_.quantizes.value_or(recipe_->plain_generation != nullptr);
  settings.push_back({"quantize", quantizes ? "int8" : "none",
                      arguments_.quantizes        ? "flag"
                      : recipe_->plain_generation ? "recipe"
                                                  : "default"});
}

void Asking::check(const GenerationRequest& request) const {
  check_prompt(plan_, request.prompt);
  check_request(request, plan_.vocabulary);
}

std::string Asking::cut_text(const Prompt& prompt) const {
  const int context = plan_.context;
  if (prompt.cut)
    return fmt::format(
        "the prompt is too long for the recipe's data: the model sees its last {} tokens, marks "
        "included.\n",
        prompt.tokens.size());
  if (!prompt.decoder.empty() || prompt.tokens.size() <= std::size_t(context)) return "";
  return fmt::format("the prompt has {} tokens, and the model sees the last {}: its context.\n",
                     prompt.tokens.size(), context);
}

std::string text_of(const GeneratedText& result, const Asked& asked, const Tokenizer& tokenizer) {
  return written(result, asked, tokenizer).text();
}

Json json_of(const GeneratedText& result, const Asked& asked, const Tokenizer& tokenizer) {
  const Writing writing = written(result, asked, tokenizer);
  Json json{{"text", writing.text()},
            {"tokens", result.tokens.size()},
            {"finish_reason", reason_of(result.end)}};
  if (!writing.stop().empty()) json["stop"] = writing.stop();
  if (result.end_token >= 0) json["stop_token_id"] = result.end_token;
  json["score"] = result.score;
  json["token_ids"] = result.tokens;
  json["log_probabilities"] = result.log_probabilities;
  return json;
}

void add_results(Json& object, const std::vector<GeneratedText>& results, const Asked& asked,
                 const Tokenizer& tokenizer) {
  object.update(json_of(results.front(), asked, tokenizer));
  if (asked.request.results > 1)
    for (const GeneratedText& result : results)
      object["results"].push_back(json_of(result, asked, tokenizer));
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string line_of(const Json& object) { return text_of(object) + "\n"; }

}  // namespace sinter::detail::cli
