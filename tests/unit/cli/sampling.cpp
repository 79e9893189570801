// SPDX-License-Identifier: Apache-2.0
// Who says how tokens are chosen: a flag, the recipe, generation_config.json, or Sinter.
#include "cli/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/numbers.hpp"
#include "sinter/generate/texts.hpp"

using namespace sinter;
using namespace sinter::detail::cli;
using Json = nlohmann::ordered_json;

namespace {

const Prompt prompt{.tokens = {1, 2, 3}};

Sampling by(const SamplingSettings& flags, const Json& file, const SamplingSettings& recipe = {}) {
  return sampling_by({.settings = flags}, recipe, file, prompt, 100);
}

std::string origin_of(const Sampling& sampling, std::string_view name) {
  const auto found = std::ranges::find(sampling.settings, name, &Setting::name);
  return found == sampling.settings.end() ? "" : found->from;
}

}  // namespace

TEST_CASE("without flags and a file, Sinter's defaults count") {
  const Sampling found = by({}, {});
  CHECK(found.tokens == 256);
  CHECK(found.options.temperature == .8);
  CHECK(found.options.top_k == 0);
  CHECK(found.options.top_p == 1);
  CHECK(found.text() == "temperature 0.8 (default)");
  CHECK(found.notes.empty());
}

TEST_CASE("flags count before the file, and the file before the defaults") {
  const Json file{{"do_sample", true},
                  {"temperature", .6},
                  {"top_p", .9},
                  {"max_length", 20},
                  {"min_length", 5}};
  const Sampling found = sampling_by({{.top_p = .5}, 4}, {}, file, prompt, 100);
  CHECK(found.options.temperature == .6);
  CHECK(found.options.top_p == .5);
  CHECK(found.options.seed == 4);
  CHECK(found.tokens == 17);
  CHECK(found.options.min_new_tokens == 2);
  CHECK(origin_of(found, "temperature") == "generation_config.json");
  CHECK(origin_of(found, "top_p") == "flag");
  CHECK(origin_of(found, "top_k") == "default");
  CHECK(found.text() ==
        "tokens 17 (generation_config.json), temperature 0.6 (generation_config.json), top_p 0.5 "
        "(flag), min_tokens 2 (generation_config.json), seed 4 (flag)");
  CHECK(by({.tokens = 9}, file).tokens == 9);
}

TEST_CASE("flags count before the recipe, and the recipe before the file") {
  const Json file{{"do_sample", true}, {"temperature", .6}, {"top_p", .9}, {"top_k", 7}};
  const SamplingSettings recipe{.tokens = 30, .top_k = 0, .top_p = .8, .min_p = .1};
  const Sampling found = by({.min_p = .2}, file, recipe);
  CHECK(found.tokens == 30);
  CHECK(found.options.temperature == .6);
  CHECK(found.options.top_k == 0);
  CHECK(found.options.top_p == .8);
  CHECK(found.options.min_p == .2);
  CHECK(found.notes.empty());
  CHECK(found.text() ==
        "tokens 30 (recipe), temperature 0.6 (generation_config.json), top_k 0 (recipe), top_p 0.8 "
        "(recipe), min_p 0.2 (flag)");
}

TEST_CASE("each setting of a recipe counts, and is named") {
  const SamplingSettings recipe{.tokens = 31,
                                .min_tokens = 3,
                                .temperature = .5,
                                .top_k = 20,
                                .top_p = .9,
                                .min_p = .1,
                                .typical_p = .7,
                                .repetition_penalty = 1.2,
                                .frequency_penalty = .3,
                                .presence_penalty = .4,
                                .no_repeat_ngram = 5,
                                .no_repeat_written_ngram = 6,
                                .no_repeat_prompt_ngram = 7,
                                .beams = 4,
                                .results = 2,
                                .early_stopping = BeamStopping::never,
                                .length_penalty = LengthPenalty::wu,
                                .length_exponent = 2};
  const Sampling found = by({}, {}, recipe);
  CHECK(std::ranges::count(found.settings, "recipe", &Setting::from) == 18);
  CHECK(found.options.min_new_tokens == 3);
  CHECK(found.options.no_repeat_written_ngram == 6);
  CHECK(found.options.no_repeat_prompt_ngram == 7);
  CHECK(found.results == 2);
  CHECK(found.beams.beams == 4);
  CHECK(found.beams.early_stopping == BeamStopping::never);
  CHECK(found.beams.length_penalty == LengthPenalty::wu);
  CHECK(found.beams.exponent == 2);
  // A program of one's own gets the same.
  const GenerationRequest request = request_by(recipe, prompt);
  CHECK(request.tokens == found.tokens);
  CHECK(request.results == found.results);
  CHECK(request.beams.exponent == 2);
  CHECK(request.sampling.temperature == found.options.temperature);
  CHECK(request.sampling.top_k == found.options.top_k);
  CHECK(request.sampling.typical_p == found.options.typical_p);
  CHECK(request.sampling.presence_penalty == .4);
  CHECK(request.sampling.min_new_tokens == 3);
}

TEST_CASE("what the recipe says and flags leave no effect is said") {
  const auto note = [](const SamplingSettings& flags, const SamplingSettings& recipe,
                       const Json& file = {}) {
    const Sampling found = by(flags, file, recipe);
    REQUIRE(found.notes.size() == 1);
    return found.notes[0];
  };
  CHECK(note({.temperature = 0.}, {.top_p = .9}) ==
        "top_p of the recipe has no effect: --temperature 0 takes the likeliest token.");
  CHECK(note({.top_k = 5}, {.temperature = 0.}) ==
        "temperature of the recipe has no effect: a flag says how to draw.");
  CHECK(by({.top_k = 5}, {}, {.temperature = 0.}).options.temperature == .8);
  CHECK(note({.beams = 1}, {.beams = 3, .early_stopping = BeamStopping::yes})
            .starts_with("early_stopping of the recipe has no effect: --beams 1"));
  CHECK(note({.length_penalty = LengthPenalty::none}, {.beams = 3, .length_exponent = 2.})
            .starts_with("length_exponent of the recipe"));
  CHECK(note({.beams = 2}, {.beams = 3, .results = 3}).starts_with("results of the recipe"));
  CHECK(by({.beams = 2}, {}, {.beams = 3, .results = 3}).results == 1);
  CHECK(note({}, {.results = 3}, Json{{"do_sample", false}}).starts_with("results of the recipe"));
  CHECK(note({.tokens = 5}, {.min_tokens = 9}) ==
        "the recipe asks for at least 9 tokens, and at most 5 are written.");
}

TEST_CASE("a recipe that says how to draw counts where the file takes the likeliest token") {
  const Sampling drawn = by({}, Json{{"do_sample", false}}, {.top_p = .9});
  CHECK(drawn.options.temperature == .8);
  CHECK(drawn.notes.size() == 1);
  CHECK(by({}, Json{{"temperature", 0.}}, {.top_p = .9}).options.temperature == .8);
  const Sampling likeliest = by({}, Json{{"do_sample", true}, {"top_k", 5}}, {.temperature = 0.});
  CHECK(likeliest.options.temperature == 0);
  CHECK(likeliest.options.top_k == 0);
  CHECK(likeliest.notes.size() == 1);
  CHECK(origin_of(likeliest, "temperature") == "recipe");
  CHECK(by({}, {}, {.beams = 4}).text() == "temperature 0.0 (default), num_beams 4 (recipe)");
}

TEST_CASE("a flag that asks for the likeliest token leaves the file's draws out, and says so") {
  const Sampling found = by({.temperature = 0.}, Json{{"do_sample", true}, {"top_p", .9}});
  CHECK(found.options.top_p == 1);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].starts_with("top_p of generation_config.json has no effect"));
}

TEST_CASE("a flag that says how to draw counts where the file takes the likeliest token") {
  const Json greedy{{"do_sample", false}};
  CHECK(by({}, greedy).options.temperature == 0);
  const Sampling found = by({.top_p = .9}, greedy);
  CHECK(found.options.temperature == .8);
  CHECK(found.notes.size() == 1);
  const Json both{{"do_sample", false}, {"top_p", .9}};
  CHECK(by({}, both).options.top_p == 1);
  CHECK(by({}, both).notes.size() == 1);
  CHECK(by({.temperature = .7}, both).options.top_p == .9);
  CHECK(by({.top_k = 0, .top_p = 1.}, both).options.temperature == 0);  // they change nothing
}

TEST_CASE("flags that contradict each other are refused") {
  CHECK_THROWS_WITH_AS(by({.temperature = 0., .top_p = .9}, {}),
                       doctest::Contains("--temperature 0 always takes the likeliest"), UsageError);
  CHECK_THROWS_WITH_AS(by({.tokens = 3, .min_tokens = 4}, {}),
                       doctest::Contains("at least 4 tokens and of at most 3"), UsageError);
  CHECK_NOTHROW(by({.temperature = 0., .top_k = 1}, {}));
  CHECK_NOTHROW(by({.temperature = 0., .top_p = 1.}, {}));
}

TEST_CASE("a temperature of 0 in a file leaves out what the file says of draws") {
  const Sampling found = by({}, Json{{"temperature", 0.}, {"top_p", .5}});
  CHECK(found.options.temperature == 0);
  CHECK(found.options.top_p == 1);
  CHECK(found.notes.size() == 1);
  CHECK(origin_of(found, "temperature") == "generation_config.json");
  CHECK(by({.temperature = .7}, Json{{"temperature", 0.}, {"top_p", .5}}).options.top_p == .5);
}

TEST_CASE("beams take the best, unless someone says that tokens are drawn") {
  const Sampling found = by({.beams = 4}, {});
  CHECK(found.beams.beams == 4);
  CHECK(found.options.temperature == 0);
  CHECK(found.text() == "temperature 0.0 (default), num_beams 4 (flag)");
  CHECK(by({.temperature = .7, .beams = 4}, {}).options.temperature == .7);
  CHECK(by({.top_k = 5, .beams = 4}, {}).options.temperature == .8);
  const Json drawn{{"num_beams", 3}, {"do_sample", true}, {"temperature", .6}};
  CHECK(by({}, drawn).options.temperature == .6);
  const Json unsaid{{"num_beams", 3}, {"temperature", .6}, {"num_return_sequences", 2}};
  CHECK(by({}, unsaid).options.temperature == 0);
  CHECK(by({}, unsaid).notes.size() == 1);
  CHECK(by({}, unsaid).results == 2);
  CHECK(by({.beams = 1}, Json{{"num_beams", 3}}).options.temperature == .8);
  CHECK(by({}, Json{{"num_beams", 3}, {"do_sample", false}}).options.temperature == 0);
}

TEST_CASE("how a beam search goes is said by a flag, the file or Sinter") {
  const Json file{{"num_beams", 4}, {"early_stopping", "never"}, {"length_penalty", 2}};
  const Sampling found = by({.length_exponent = -1}, file);
  CHECK(found.beams.early_stopping == BeamStopping::never);
  CHECK(found.beams.exponent == -1);
  CHECK(found.beams.length_penalty == LengthPenalty::power);
  CHECK(origin_of(found, "num_beams") == "generation_config.json");
  CHECK(origin_of(found, "early_stopping") == "generation_config.json");
  CHECK(origin_of(found, "length_penalty") == "flag");
  CHECK(origin_of(found, "length_penalty_by") == "default");
  CHECK(origin_of(by({}, {}), "early_stopping").empty());
  CHECK(by({.length_penalty = LengthPenalty::wu}, file).beams.exponent == 2);
  const Sampling none = by({.length_penalty = LengthPenalty::none}, file);
  CHECK(none.beams.exponent == 1);
  CHECK(none.notes.size() == 1);
}

TEST_CASE("beams and results that contradict each other are refused, and those of a file said") {
  const auto refuses = [](const SamplingSettings& flags, const Json& file, const char* part) {
    CHECK_THROWS_WITH_AS(by(flags, file), doctest::Contains(part), UsageError);
  };
  refuses({.early_stopping = BeamStopping::yes}, {}, "there are none. Give --beams 2 or more");
  refuses({.beams = 1, .length_exponent = 2.}, Json{{"num_beams", 4}}, "there are none");
  refuses({.beams = 2, .results = 3}, {}, "--results 3: 2 beams give 2 texts at most");
  refuses({.temperature = 0., .results = 2}, {}, "all texts would be equal");
  refuses({.beams = 2, .length_penalty = LengthPenalty::none, .length_exponent = 2.}, {},
          "--length-penalty has no effect");
  CHECK(by({.results = 3}, {}).results == 3);
  const Sampling fewer = by({}, Json{{"num_beams", 2}, {"num_return_sequences", 3}});
  CHECK(fewer.results == 2);
  CHECK(fewer.notes.size() == 1);
  const Sampling one =
      by({.beams = 1}, Json{{"num_beams", 2}, {"early_stopping", true}, {"length_penalty", 2.}});
  CHECK(one.beams.early_stopping == BeamStopping::no);
  CHECK(one.beams.exponent == 1);
  CHECK(one.notes.size() == 2);
}

TEST_CASE("a first token is forced where the decoder begins") {
  const Json file{{"forced_bos_token_id", 7}, {"forced_eos_token_id", 2}};
  const Sampling text = by({}, file);
  CHECK(text.options.forced_first.empty());
  CHECK(text.notes.size() == 1);
  CHECK(text.options.forced_last == std::vector<std::int32_t>{2});
  const Sampling reply = sampling_by({}, {}, file, {.tokens = {1, 2, 3}, .decoder = {2}}, 60000);
  CHECK(reply.options.forced_first == std::vector<std::int32_t>{7});
}

TEST_CASE("a text that has less room than is asked for says what bounds it") {
  const Sampling found = sampling_by({{.min_tokens = 3}}, {}, {}, prompt, 100, {10, "a bound"});
  CHECK(found.tokens == 10);
  CHECK(origin_of(found, "tokens") == "a bound");
  CHECK(found.text().starts_with("tokens 10 (a bound), temperature"));
  CHECK(sampling_by({{.tokens = 9}}, {}, {}, prompt, 100, {10, "a bound"}).tokens == 9);
  CHECK_THROWS_WITH_AS(sampling_by({{.min_tokens = 11}}, {}, {}, prompt, 100, {10, "a bound"}),
                       doctest::Contains("at least 11 tokens and of at most 10"), UsageError);
}

TEST_CASE("a start of the decoder that the recipe does not have is said") {
  const Json file{{"decoder_start_token_id", 7}};
  const auto notes = [&](const Prompt& asked) {
    return sampling_by({}, {}, file, asked, 100).notes;
  };
  CHECK(notes({.tokens = {1}, .decoder = {7}}).empty());
  REQUIRE(notes({.tokens = {1}, .decoder = {2}}).size() == 1);
  CHECK(notes({.tokens = {1}, .decoder = {2}})[0] ==
        "decoder_start_token_id 7 has no effect: the recipe's decoder begins with the token 2.");
  REQUIRE(notes(prompt).size() == 1);
  CHECK(notes(prompt)[0].find("no decoder beside an encoder") != std::string::npos);
}

TEST_CASE("stops of flags replace those of the file") {
  const Json file{{"stop_strings", {"END"}}};
  CHECK(by({}, file).stops == std::vector<std::string>{"END"});
  CHECK(sampling_by({.stops = {"\n"}}, {}, file, prompt, 100).stops ==
        std::vector<std::string>{"\n"});
}

TEST_CASE("lengths of the file that cannot be are said, and left out") {
  const Sampling longer = by({}, Json{{"max_length", 3}});
  CHECK(longer.tokens == 256);
  REQUIRE(longer.notes.size() == 1);
  CHECK(longer.notes[0].starts_with("max_length 3 of generation_config.json has no effect"));
  const Sampling shorter = by({.tokens = 4}, Json{{"min_length", 20}});
  CHECK(shorter.options.min_new_tokens == 4);
  CHECK(shorter.notes.size() == 1);
}

TEST_CASE("min_new_tokens of the file counts before min_length, whichever is more") {
  for (const int length : {0, 20}) {
    const Sampling found = by({}, Json{{"min_new_tokens", 4}, {"min_length", length}});
    CHECK(found.options.min_new_tokens == 4);
    CHECK(origin_of(found, "min_tokens") == "generation_config.json");
  }
}

TEST_CASE("what the file says wrongly is refused by its name") {
  CHECK_THROWS_WITH_AS(by({}, Json{{"top_p", 1.5}}),
                       doctest::Contains("generation_config.json: The top-p is 1.5"), FileError);
  CHECK_THROWS_WITH_AS(by({}, Json{{"suppress_tokens", {100}}}),
                       doctest::Contains("generation_config.json: suppressed names the token 100"),
                       FileError);
}
