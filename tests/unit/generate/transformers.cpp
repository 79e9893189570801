// SPDX-License-Identifier: Apache-2.0
// Texts and scores beside those of transformers' generate(), where SINTER_PYTHON has it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "sinter/generate/generator.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/seq2seq.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/python.hpp"
#include "support/text_models.hpp"

namespace sinter::detail::testing::transformers_tests {
namespace {

using Json = nlohmann::json;
constexpr int vocabulary = 12, context = 24, start = 1;
constexpr Gpt2Options gpt2{
    .layers = 2, .heads = 2, .width = 16, .vocabulary = vocabulary, .positions = context};
constexpr LlamaOptions llama{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 16,
                             .hidden = 24,
                             .vocabulary = vocabulary,
                             .positions = context,
                             .theta = 500};
constexpr LlamaOptions mistral = changed(llama, [](auto& o) { o.window = 6; });
constexpr LlamaOptions qwen2 = changed(llama, [](auto& o) { o.tied = o.qkv_biases = true; });
constexpr Seq2SeqOptions bart{.encoder_layers = 2,
                              .decoder_layers = 2,
                              .heads = 2,
                              .width = 16,
                              .hidden = 24,
                              .vocabulary = vocabulary,
                              .positions = context,
                              .position_offset = 2,
                              .encoder_norm = EmbeddingNorm::after_positions,
                              .decoder_norm = EmbeddingNorm::after_positions,
                              .dropout = 0,
                              .start = start,
                              .end = 2,
                              .pad = 0};
constexpr Seq2SeqOptions marian = changed(bart, [](auto& o) {
  o.position = Positions::sinusoidal, o.position_offset = 0,
  o.encoder_norm = o.decoder_norm = EmbeddingNorm::none, o.activation = Activation::silu,
  o.scale_embedding = true;
});

template <class Model, class Data>
using Tiny = Made<Model, Data, Sgd<>, Batch<{.global = 2, .micro = 2}>>;
template <class Model>
using Decoder = Tiny<Model, UpTo<context, vocabulary>>;
template <Seq2SeqOptions O>
using Reply = Tiny<Seq2Seq<O>, UpToBoth<context, context, vocabulary>>;

/// Writes the random weights of a model as a folder, and returns the texts behind requests, with caches
/// or by reading whole texts.
template <class R>
std::vector<std::vector<GeneratedText>> write(std::uint64_t seed, const std::string& folder,
                                              std::span<const GenerationRequest> requests,
                                              bool caches) {
  Random<R> trainer(seed);
  trainer.export_to(folder);
  if (!caches) return generate(trainer, requests);
  Generator<R> generator({.threads = 1});
  trainer.give_weights(generator.weights());
  return generate(generator, requests);
}
struct Architecture {
  bool replies;
  std::vector<std::vector<GeneratedText>> (*write)(std::uint64_t, const std::string&,
                                                   std::span<const GenerationRequest>, bool);
};
constexpr Architecture architectures[] = {{false, write<Decoder<Gpt2<gpt2>>>},
                                          {false, write<Decoder<Llama<llama>>>},
                                          {true, write<Reply<bart>>},
                                          {false, write<Decoder<Llama<mistral>>>},
                                          {false, write<Decoder<Llama<qwen2>>>},
                                          {true, write<Reply<marian>>}};
const Architecture& architecture(int k) { return architectures[k % 6]; }

/// A request whose options hang on a number.
GenerationRequest request_of(int k, bool replies) {
  GenerationRequest request{.prompt = {.tokens = {k % 12, 3, (5 * k) % 12}, .end = 1 + k % 4},
                            .tokens = 6 + k % 9,
                            .sampling = {.temperature = 0}};
  if (replies) request.prompt.decoder = {start};
  if (k % 3 == 0) request.prompt.more_ends = {7};
  if (k % 5 == 0) request.sampling.repetition_penalty = 1.3;
  if (k % 5 == 1) request.sampling.no_repeat_ngram = 2;
  if (k % 5 == 2) request.sampling.min_new_tokens = 2;
  if (k % 7 == 1) request.sampling.sequence_bias = {{{5}, -1.5}, {{3, 4}, 2}};
  if (k % 7 == 2) request.sampling.suppressed_first = {4, 7};
  if (k % 7 == 3) request.sampling.no_repeat_prompt_ngram = 2;
  if (k % 7 == 4) request.sampling.suppressed = {2, 9};
  if (k % 7 == 5) request.sampling.bad_words = {{4}, {3, 5}};
  if (k % 4 == 3) {                    // drawn
    request.sampling.temperature = 3;  // so that no fewer tokens are left than are drawn at once
    request.sampling.seed = std::uint64_t(k);
    if (k % 16 == 3) request.sampling.top_k = 6;
    if (k % 16 == 7) request.sampling.top_p = .95;
    if (k % 16 == 11) request.sampling.min_p = .05;
    if (k % 16 == 15) request.sampling.typical_p = .95;
  }
  const bool draws = request.sampling.temperature > 0;
  if (k % 7 == 6 && !draws) {            // draws need more tokens than are forced
    request.sampling.forced_last = {8};  // of several, all would be as likely
    if (replies) request.sampling.forced_first = {5};
  }
  if (k % 11 % 4 == 1) return request;  // without beams, of each architecture
  if (draws) request.prompt.more_ends.clear();
  request.beams = {.beams = draws ? 2 : 2 + k % 3,
                   .early_stopping = BeamStopping(k % 3),
                   .exponent = double(k / 2 % 4 - 1)};
  request.results = request.beams.beams;
  return request;
}

/// A request in transformers' words.
Json words_of(const GenerationRequest& request, const std::string& folder) {
  constexpr const char* stopping[] = {"false", "true", "\"never\""};
  std::vector<std::int32_t> ends = request.prompt.more_ends;
  ends.push_back(request.prompt.end);
  const SamplingOptions& s = request.sampling;
  Json options{{"max_new_tokens", request.tokens},
               {"num_return_sequences", request.results},
               {"eos_token_id", ends},
               {"repetition_penalty", s.repetition_penalty},
               {"no_repeat_ngram_size", s.no_repeat_ngram},
               {"encoder_no_repeat_ngram_size", s.no_repeat_prompt_ngram}};
  if (s.temperature > 0) {
    options["do_sample"] = true;
    options["temperature"] = s.temperature;
    options["top_k"] = s.top_k;
    options["top_p"] = s.top_p;
    options["min_p"] = s.min_p;
    options["typical_p"] = s.typical_p;
  }
  if (s.min_new_tokens > 0) options["min_new_tokens"] = s.min_new_tokens;
  if (!s.suppressed.empty()) options["suppress_tokens"] = s.suppressed;
  if (!s.suppressed_first.empty()) options["begin_suppress_tokens"] = s.suppressed_first;
  if (!s.bad_words.empty()) options["bad_words_ids"] = s.bad_words;
  if (!s.forced_first.empty()) options["forced_bos_token_id"] = s.forced_first.front();
  if (!s.forced_last.empty()) options["forced_eos_token_id"] = s.forced_last;
  for (const auto& [tokens, bias] : s.sequence_bias)
    options["sequence_bias"].push_back(Json::array({tokens, bias}));
  options["num_beams"] = request.beams.beams;
  if (request.beams.beams > 1) {
    options["early_stopping"] = Json::parse(stopping[int(request.beams.early_stopping)]);
    options["length_penalty"] = request.beams.exponent;
  }
  if (!request.prompt.decoder.empty()) options["decoder_start_token_id"] = start;
  // The draws of the second request of a batch, in order.
  std::vector<double> draws;
  for (std::uint64_t at = 0; at < 1000; ++at)
    draws.push_back(uniform_draw(stream_seed(s.seed, 1, 0), at));
  return {{"folder", folder},
          {"prompt", request.prompt.tokens},
          {"options", options},
          {"draws", draws}};
}

/// Checks one text beside transformers', and returns whether both have the same tokens. Greedy texts may
/// part only where roundings decide between two tokens, and differ rightly behind that.
bool check(const GeneratedText& our, const Json& their) {
  const auto wanted = their["tokens"].get<std::vector<std::int32_t>>();
  const bool same = our.tokens == wanted;
  if (same || !their.contains("gaps")) {
    CHECK(our.score == doctest::Approx(their["score"].get<double>()).epsilon(1e-4));
  } else {
    const auto parted = std::ranges::mismatch(our.tokens, wanted).in1 - our.tokens.begin();
    CHECK(their["gaps"].at(std::size_t(parted)).get<double>() <= 1e-4);
  }
  return same;
}

/// Number of models. SINTER_TEST_MODELS makes it a soak.
int models() {
  const char* asked = std::getenv("SINTER_TEST_MODELS");
  return asked ? std::atoi(asked) : 8;
}

TEST_CASE(
    "texts and scores of six architectures are those of transformers, with beams and without") {
  const auto python = python_with("torch, transformers");
  if (!python) return;
  const TemporaryFolder folder;
  std::ofstream asked(folder / "requests.jsonl");
  std::vector<std::vector<GeneratedText>> ours;
  for (int k = 0; k < models(); ++k) {
    const auto [replies, write] = architecture(k);
    const std::string name = (folder / std::to_string(k)).string();
    const GenerationRequest request = request_of(k, replies);
    asked << words_of(request, name) << "\n";
    // Two others stand in the batch, too.
    const std::vector<GenerationRequest> requests{request_of(k + 5, replies), request,
                                                  request_of(k + 6, replies)};
    const bool caches = (k + k / 6) % 2 == 0;  // each architecture has both
    ours.push_back(write(std::uint64_t(k) + 1, name, requests, caches)[1]);
  }
  asked.close();
  const std::string script =
      std::string(SINTER_SOURCE_DIR) + "/tests/support/generate_with_transformers.py";
  const fs::path printed = folder / "texts.jsonl";
  REQUIRE(std::system(("'" + *python + "' '" + script + "' " +
                       (folder / "requests.jsonl").string() + " > " + printed.string())
                          .c_str()) == 0);
  const std::vector<Json> theirs = json_rows(printed);
  REQUIRE(theirs.size() == ours.size());
  int texts = 0, others = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    CAPTURE(k);
    REQUIRE(theirs[k]["texts"].size() == ours[k].size());
    for (std::size_t r = 0; r < ours[k].size(); ++r, ++texts) {
      CAPTURE(r);
      if (!check(ours[k][r], theirs[k]["texts"][r])) ++others;
    }
  }
  MESSAGE(others, " of ", texts, " texts have other tokens");
  CHECK(others * 100 <= texts);  // of equal scores, either may come first
}

}  // namespace
}  // namespace sinter::detail::testing::transformers_tests
