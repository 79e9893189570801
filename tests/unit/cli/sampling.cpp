// SPDX-License-Identifier: Apache-2.0
// Who says how tokens are chosen: a flag, generation_config.json, or Sinter.
#include "cli/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/numbers.hpp"

using namespace sinter;
using namespace sinter::detail::cli;
using Json = nlohmann::ordered_json;

namespace {

const Prompt prompt{.tokens = {1, 2, 3}};

Sampling by(const SamplingFlags& flags, const Json& file) {
  return sampling_by(flags, file, prompt, 100);
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
  const Sampling found = by({.top_p = .5, .seed = 4}, file);
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
  CHECK(by({.top_p = 1., .top_k = 0}, both).options.temperature == 0);  // they change nothing
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
  const Sampling found = by({.length_penalty = -1}, file);
  CHECK(found.beams.early_stopping == BeamStopping::never);
  CHECK(found.beams.exponent == -1);
  CHECK(found.beams.length_penalty == LengthPenalty::power);
  CHECK(origin_of(found, "num_beams") == "generation_config.json");
  CHECK(origin_of(found, "early_stopping") == "generation_config.json");
  CHECK(origin_of(found, "length_penalty") == "flag");
  CHECK(origin_of(found, "length_penalty_by") == "default");
  CHECK(origin_of(by({}, {}), "early_stopping").empty());
  CHECK(by({.length_penalty_by = LengthPenalty::wu}, file).beams.exponent == 2);
  const Sampling none = by({.length_penalty_by = LengthPenalty::none}, file);
  CHECK(none.beams.exponent == 1);
  CHECK(none.notes.size() == 1);
}

TEST_CASE("beams and results that contradict each other are refused, and those of a file said") {
  const auto refuses = [](const SamplingFlags& flags, const Json& file, const char* part) {
    CHECK_THROWS_WITH_AS(by(flags, file), doctest::Contains(part), UsageError);
  };
  refuses({.early_stopping = BeamStopping::yes}, {}, "there are none. Give --beams 2 or more");
  refuses({.beams = 1, .length_penalty = 2.}, Json{{"num_beams", 4}}, "there are none");
  refuses({.beams = 2, .results = 3}, {}, "--results 3: 2 beams give 2 texts at most");
  refuses({.temperature = 0., .results = 2}, {}, "all texts would be equal");
  refuses({.beams = 2, .length_penalty_by = LengthPenalty::none, .length_penalty = 2.}, {},
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
  const Sampling reply = sampling_by({}, file, {.tokens = {1, 2, 3}, .decoder = {2}}, 60000);
  CHECK(reply.options.forced_first == std::vector<std::int32_t>{7});
}

TEST_CASE("stops of flags replace those of the file") {
  const Json file{{"stop_strings", {"END"}}};
  CHECK(by({}, file).stops == std::vector<std::string>{"END"});
  CHECK(by({.stops = {"\n"}}, file).stops == std::vector<std::string>{"\n"});
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

TEST_CASE("what the file says wrongly is refused by its name") {
  CHECK_THROWS_WITH_AS(by({}, Json{{"top_p", 1.5}}),
                       doctest::Contains("generation_config.json: The top-p is 1.5"), FileError);
  CHECK_THROWS_WITH_AS(by({}, Json{{"suppress_tokens", {100}}}),
                       doctest::Contains("generation_config.json: suppressed names the token 100"),
                       FileError);
}
