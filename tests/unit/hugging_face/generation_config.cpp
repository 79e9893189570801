// SPDX-License-Identifier: Apache-2.0
// generation_config.json in Sinter's words.
#include <doctest/doctest.h>

#include "hugging_face/generation_config.hpp"
#include "sinter/error.hpp"

using namespace sinter;
using namespace sinter::detail::hugging_face;
using Json = nlohmann::ordered_json;

namespace {

using Tokens = std::vector<std::int32_t>;
using Words = std::vector<std::string>;

GenerationConfig read(const std::string& text) { return read_generation_config(Json::parse(text)); }

}  // namespace

TEST_CASE("without a file, or with an empty one, nothing is set") {
  CHECK(read_generation_config({}).set.empty());
  CHECK(read("{}").set.empty());
  CHECK(read(R"({"top_k": null, "transformers_version": "5.24.0"})").set.empty());
}

TEST_CASE("a model that samples has its settings") {
  const GenerationConfig found = read(R"({
      "bos_token_id": 128000, "do_sample": true, "eos_token_id": [128001, 128008],
      "temperature": 0.6, "top_k": 20, "top_p": 0.9, "min_p": 0.05, "typical_p": 0.95,
      "repetition_penalty": 1.1, "max_length": 4096, "min_length": 3})");
  CHECK(found.sampling.temperature == .6);
  CHECK(found.sampling.top_k == 20);
  CHECK(found.sampling.top_p == .9);
  CHECK(found.sampling.min_p == .05);
  CHECK(found.sampling.typical_p == .95);
  CHECK(found.sampling.repetition_penalty == 1.1);
  CHECK(found.ends == Tokens{128001, 128008});
  CHECK(found.max_length == 4096);
  CHECK(found.min_length == 3);
  CHECK(found.sets("top_p"));
  CHECK(!found.sets("do_sample"));
  CHECK(found.left_out.empty());
}

TEST_CASE("an encoder-decoder has forced tokens and beams") {
  const GenerationConfig found = read(R"({
      "forced_bos_token_id": 0, "forced_eos_token_id": 2, "eos_token_id": 2, "num_beams": 4,
      "no_repeat_ngram_size": 3, "min_length": 12, "max_length": 62, "max_new_tokens": 50,
      "bad_words_ids": [[58100], [3, 4]], "suppress_tokens": [7],
      "begin_suppress_tokens": [8, 9], "sequence_bias": [[[5, 6], -1.5]],
      "stop_strings": ["\n\n", "END"], "early_stopping": true, "length_penalty": 2.0,
      "num_return_sequences": 3, "encoder_no_repeat_ngram_size": 4, "num_beam_groups": 2})");
  CHECK(found.sampling.forced_first == Tokens{0});
  CHECK(found.sampling.forced_last == Tokens{2});
  CHECK(found.sampling.no_repeat_ngram == 3);
  CHECK(found.sampling.bad_words == std::vector<Tokens>{{58100}, {3, 4}});
  CHECK(found.sampling.suppressed == Tokens{7});
  CHECK(found.sampling.suppressed_first == Tokens{8, 9});
  REQUIRE(found.sampling.sequence_bias.size() == 1);
  CHECK(found.sampling.sequence_bias[0].tokens == Tokens{5, 6});
  CHECK(found.sampling.sequence_bias[0].bias == -1.5);
  CHECK(found.stops == Words{"\n\n", "END"});
  CHECK(found.max_new_tokens == 50);
  CHECK(found.beams.beams == 4);
  CHECK(found.beams.early_stopping == BeamStopping::yes);
  CHECK(found.beams.exponent == 2);
  CHECK(found.results == 3);
  CHECK(found.sampling.no_repeat_prompt_ngram == 4);
  CHECK(found.left_out == Words{"num_beam_groups 2 has no effect: Sinter does not have it."});
}

TEST_CASE("a model that does not sample says so, and keeps what it says of drawing") {
  const GenerationConfig found =
      read(R"({"do_sample": false, "temperature": 0.6, "top_p": 0.9, "repetition_penalty": 2})");
  CHECK(found.likeliest);
  CHECK(found.sampling.temperature == .6);
  CHECK(found.sampling.top_p == .9);
  CHECK(found.sampling.repetition_penalty == 2);
  CHECK(!found.draws);
  CHECK(!read(R"({"do_sample": true})").likeliest);
  CHECK(read(R"({"do_sample": true})").draws);
}

TEST_CASE("early stopping is true, false or never") {
  CHECK(read(R"({"early_stopping": "never"})").beams.early_stopping == BeamStopping::never);
  CHECK(read(R"({"early_stopping": false})").beams.early_stopping == BeamStopping::no);
  CHECK(read(R"({})").beams.early_stopping == BeamStopping::no);
}

TEST_CASE("a whole number may have a decimal point") {
  CHECK(read(R"({"top_k": 50.0})").sampling.top_k == 50);
}

TEST_CASE("what changes nothing is not reported") {
  CHECK(read(R"({"num_beams": 1, "num_return_sequences": 1, "guidance_scale": 1.0,
                 "diversity_penalty": 0.0, "renormalize_logits": false, "constraints": null,
                 "use_cache": true, "output_scores": false})")
            .left_out.empty());
}

TEST_CASE("what would choose other tokens, and is not there, is said") {
  // Marian's files have the first one.
  for (const char* text :
       {R"({"renormalize_logits": true})", R"({"diversity_penalty": 0.5})",
        R"({"force_words_ids": [[3]]})", R"({"constraints": ["a"]})",
        R"({"forced_decoder_ids": [[1, 2]]})", R"({"remove_invalid_values": true})",
        R"({"token_healing": true})", R"({"dola_layers": "high"})", R"({"num_beam_groups": 2})",
        R"({"penalty_alpha": 0.6})", R"({"guidance_scale": 1.5})",
        R"({"encoder_repetition_penalty": 1.2})", R"({"epsilon_cutoff": 0.1})",
        R"({"eta_cutoff": 0.1})", R"({"top_h": 0.4})", R"({"max_time": 3})",
        R"({"exponential_decay_length_penalty": [3, 1.1]})",
        R"({"watermarking_config": {"bias": 2}})"}) {
    CAPTURE(text);
    const Words left_out = read(text).left_out;
    REQUIRE(left_out.size() == 1);
    const std::string key = Json::parse(text).begin().key();
    CHECK(left_out[0].starts_with(key + " "));
  }
}

TEST_CASE("a key that nobody knows is said") {
  CHECK(
      read(R"({"temperatur": 0.5, "_commit_hash": "ab", "top_p": 0.9, "mirostat": null})")
          .left_out ==
      Words{"temperatur of generation_config.json has no effect: Sinter does not know this key."});
  // The keys of transformers 5.24 that say how it computes, and not what.
  for (const char* key : {"assistant_confidence_threshold",
                          "assistant_early_exit",
                          "assistant_ensemble_weight",
                          "assistant_lookbehind",
                          "bos_token_id",
                          "cache_config",
                          "cache_implementation",
                          "compile_config",
                          "continuous_batching_config",
                          "disable_compile",
                          "is_assistant",
                          "low_memory",
                          "max_cache_len",
                          "max_matching_ngram_size",
                          "num_assistant_tokens",
                          "num_assistant_tokens_schedule",
                          "output_attentions",
                          "output_hidden_states",
                          "output_logits",
                          "output_scores",
                          "pad_token_id",
                          "prefill_chunk_size",
                          "prompt_lookup_num_tokens",
                          "return_dict_in_generate",
                          "speculation_type",
                          "target_lookbehind",
                          "transformers_version",
                          "use_cache",
                          "use_mtp"}) {
    CAPTURE(key);
    CHECK(read(R"({")" + std::string(key) + R"(": 3})").left_out.empty());
  }
}

TEST_CASE("the tokens that a decoder begins with are read") {
  CHECK(read(R"({"decoder_start_token_id": 4})").starts == Tokens{4});
  CHECK(read(R"({"decoder_start_token_id": [4, 4]})").starts == Tokens{4, 4});
  CHECK(read(R"({"decoder_start_token_id": null})").starts.empty());
}

TEST_CASE("values of another type are refused with their key") {
  const auto refuses = [](const char* text, const std::string& part) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(read(text), doctest::Contains(part.c_str()), FileError);
  };
  refuses(R"({"temperature": "hot"})", R"("temperature" is "hot"; expected a number)");
  refuses(R"({"top_k": 1.5})", R"("top_k" is 1.5; expected a whole number)");
  refuses(R"({"eos_token_id": ["</s>"]})", R"("eos_token_id" is "</s>")");
  refuses(R"({"do_sample": 1})", R"("do_sample" is 1; expected true or false)");
  refuses(R"({"bad_words_ids": 3})", R"("bad_words_ids" is 3; expected a list of lists)");
  refuses(R"({"sequence_bias": [[1, 2, 3]]})", R"("sequence_bias" is [1,2,3])");
  refuses(R"({"stop_strings": [""]})", R"("stop_strings" is "")");
  refuses(R"({"max_new_tokens": 0})", R"("max_new_tokens" is 0; expected at least 1)");
  refuses(R"({"num_beams": 0})", R"("num_beams" is 0; expected at least 1)");
  refuses(R"({"num_return_sequences": 0})", R"("num_return_sequences" is 0; expected at least 1)");
  refuses(R"({"early_stopping": "yes"})", R"("early_stopping" is "yes"; expected true, false or)");
  refuses(R"({"length_penalty": "long"})", R"("length_penalty" is "long"; expected a number)");
  refuses(R"({"stop_strings": [1]})", R"("stop_strings" is 1; expected a text)");
}
