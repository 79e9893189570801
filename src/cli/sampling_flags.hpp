// SPDX-License-Identifier: Apache-2.0
// The flags of `generate` that choose tokens, and the numbers that flags take.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "cli/flags.hpp"
#include "cli/numbers.hpp"

namespace sinter::detail::cli {

template <class T>
T integer(const Given& given, int minimum) {
  return number_of<T>(given.flag, given.texts.front(), minimum);
}

/// A share of a whole, above none of it.
inline double share(const Given& given) {
  return number_of<double>(given.flag, given.texts.front(), Range().above(0).at_most(1));
}

/// The place of a flag's word among those that it takes.
inline int place_of(const Given& given, std::initializer_list<std::string_view> words) {
  const auto found = std::ranges::find(words, given.texts.front());
  if (found != words.end()) return int(found - words.begin());
  throw UsageError(fmt::format("{} takes {}, not '{}'.", given.flag, fmt::join(words, ", "),
                               given.texts.front()));
}

inline constexpr Flag sampling_flags[] = {
    {"--tokens", "N",
     "How many tokens to write; a text that ends is shorter, and a\n"
     "reply no longer than those that were learnt. Default: what the\n"
     "model's generation_config.json says, else 256.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.tokens = integer<std::int64_t>(g, 1);
     }},
    {"--ignore-eos", "", "Write on past the token that ends a text.",
     [](Arguments& a, const Given&) { a.ignore_eos = true; }},
    {"--temperature", "T",
     "Below 1 likely tokens come more often, above 1 rare ones; 0:\n"
     "always the likeliest. Default of this flag and of those below:\n"
     "what generation_config.json says, else 0.8.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.temperature = number_of<double>(g.flag, g.texts.front(), 0);
     }},
    {"--top-k", "K", "Draw only from the K likeliest tokens; 0: from all. Default: 0.",
     [](Arguments& a, const Given& g) { a.sampling.settings.top_k = integer<int>(g, 0); }},
    {"--top-p", "P",
     "Draw only from the likeliest tokens whose probabilities reach P\n"
     "together. Default: 1, from all.",
     [](Arguments& a, const Given& g) { a.sampling.settings.top_p = share(g); }},
    {"--min-p", "P",
     "Draw only from tokens at least P times as likely as the likeliest.\nDefault: 0, from all.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.min_p =
           number_of<double>(g.flag, g.texts.front(), Range().at_least(0).at_most(1));
     }},
    {"--typical-p", "P",
     "Draw only from the tokens that surprise as much as the mean, until\n"
     "their probabilities reach P together. Default: 1, from all.",
     [](Arguments& a, const Given& g) { a.sampling.settings.typical_p = share(g); }},
    {"--repetition-penalty", "X",
     "Divides the logits of tokens that the text has, prompt included;\n"
     "negative ones are multiplied. Default: 1, no penalty.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.repetition_penalty =
           number_of<double>(g.flag, g.texts.front(), Range().above(0));
     }},
    {"--frequency-penalty", "X",
     "Is subtracted from a token's logit each time that it was written.\nDefault: 0.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.frequency_penalty = number_of<double>(g.flag, g.texts.front(), Range());
     }},
    {"--presence-penalty", "X",
     "Is subtracted once from the logit of each token that was written.\nDefault: 0.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.presence_penalty = number_of<double>(g.flag, g.texts.front(), Range());
     }},
    {"--no-repeat-ngram-size", "N",
     "Never write N tokens in a row that the text has already, prompt\n"
     "included; 0: any may come again. Default: 0.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.no_repeat_ngram = integer<int>(g, 0);
     }},
    {"--no-repeat-written-ngram-size", "N",
     "Never write N tokens in a row that were written already; what the\n"
     "prompt has may be written once. Default: 0, any may come again.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.no_repeat_written_ngram = integer<int>(g, 0);
     }},
    {"--no-repeat-prompt-ngram-size", "N",
     "Never write N tokens in a row that the prompt has. Default: 0, any\n"
     "may be written.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.no_repeat_prompt_ngram = integer<int>(g, 0);
     }},
    {"--min-tokens", "N", "The text does not end before N tokens are written. Default: 0.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.min_tokens = integer<std::int64_t>(g, 0);
     }},
    {"--stop", "TEXT...",
     "Texts that end the text where one begins; it is not printed.\nDefault: none.",
     [](Arguments& a, const Given& g) {
       for (const std::string& text : g.texts)
         if (text.empty())
           throw UsageError("--stop takes a text, and an empty one is in each text.");
       a.sampling.stops = g.texts;
     }},
    {"--beams", "N",
     "Search among N texts at once for the one that is likeliest as a\n"
     "whole. They take the best tokens, unless a flag says how to draw.\n"
     "Default: what generation_config.json says, else 1: no search.",
     [](Arguments& a, const Given& g) { a.sampling.settings.beams = integer<int>(g, 1); }},
    {"--results", "N",
     "Write N texts behind each prompt: of beams the best N, else N that\n"
     "are drawn. Default: what generation_config.json says, else 1.",
     [](Arguments& a, const Given& g) { a.sampling.settings.results = integer<int>(g, 1); }},
    {"--early-stopping", "WORD",
     "true: a search ends once as many texts as beams have ended; false:\n"
     "once none that runs looks better; never: once none can be better\n"
     "at any length. Default: what generation_config.json says, else\n"
     "false.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.early_stopping = BeamStopping(place_of(g, {"false", "true", "never"}));
     }},
    {"--length-penalty", "X",
     "The exponent of the length that divides a text's score among\n"
     "beams: above 0 long texts are favoured. Default: what\n"
     "generation_config.json says, else 1.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.length_exponent = number_of<double>(g.flag, g.texts.front(), Range());
     }},
    {"--length-penalty-by", "WORD",
     "power: of the length itself, as transformers; wu: of (length + 2)\n"
     "/ 6, as ParlAI; none: scores are not divided. Default: power.",
     [](Arguments& a, const Given& g) {
       a.sampling.settings.length_penalty = LengthPenalty(place_of(g, {"power", "wu", "none"}));
     }},
};

}  // namespace sinter::detail::cli
