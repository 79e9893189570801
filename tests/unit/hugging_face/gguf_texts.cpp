// SPDX-License-Identifier: Apache-2.0
// Texts of exported GGUF files in llama.cpp, where SINTER_PYTHON has it (xllamacpp), are those of Sinter.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "hugging_face/export_gguf.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/python.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::testing::gguf_texts_tests {

constexpr LlamaOptions plain{.layers = 2,
                             .heads = 4,
                             .kv_heads = 2,
                             .width = 32,
                             .hidden = 40,
                             .vocabulary = 300,
                             .positions = 48,
                             .theta = 500};
constexpr LlamaOptions llama = changed(plain, [](auto& o) {
  o.scaling = RotaryScaling::llama3, o.scaling_factor = 8, o.original_positions = 16;
});
constexpr LlamaOptions qwen2 = changed(plain, [](auto& o) {
  o.scaling = RotaryScaling::yarn, o.scaling_factor = 4, o.original_positions = 16;
  o.tied = o.qkv_biases = true;
});
constexpr LlamaOptions mistral = changed(plain, [](auto& o) { o.head_width = 12, o.window = 32; });
using Gpt = Gpt2<{.layers = 2, .heads = 2, .width = 16, .vocabulary = 300, .positions = 48}>;

template <class Model>
using Tiny = Made<Model, UpTo<48, Model::options.vocabulary>>;

/// Compares texts behind two prompts of a model with random weights. They are of ASCII, as llama.cpp
/// does not say the ids of parts of characters. It reads activations from tables of 16 bits, so that
/// probabilities are near.
template <class Model>
void compare() {
  const auto python = python_with("xllamacpp");
  if (!python) return;
  const TemporaryFolder folder;
  Trainer<Tiny<Model>> trainer({.threads = 1});
  randomise(trainer, 5, .6);
  const std::string file = (folder / "a.gguf").string();
  trainer.show_weights([&](std::span<const TensorView> weights) {
    hugging_face::export_gguf({.bytes = true}, config_json(trainer.recipe().hugging_face), weights,
                              Dtype::f32, file);
  });
  constexpr int tokens = 20;
  const std::vector<std::int32_t> prompts[] = {{70, 105, 114, 115, 116}, {32}};
  SamplingOptions greedy{.temperature = 0};
  for (std::int32_t id = 127; id < Model::options.vocabulary; ++id) greedy.suppressed.push_back(id);
  std::vector<GenerationRequest> requests;
  std::string command = fmt::format("'{}' '" SINTER_SOURCE_DIR
                                    "/tests/support/greedy_with_llama_cpp.py' '{}' {} 127 {}",
                                    *python, file, tokens, int(Model::options.vocabulary));
  for (const auto& prompt : prompts) {
    requests.push_back({.prompt = {.tokens = prompt}, .tokens = tokens, .sampling = greedy});
    command += fmt::format(" '[{}]'", fmt::join(prompt, ", "));
  }
  const fs::path printed = folder / "texts.jsonl";
  REQUIRE(std::system(
              fmt::format("{} > '{}' 2> '{}'", command, printed.string(), (folder / "log").string())
                  .c_str()) == 0);
  const auto theirs = json_rows(printed);
  const std::vector<std::vector<GeneratedText>> ours = generate(trainer, requests);
  REQUIRE(theirs.size() == ours.size());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    CAPTURE(k);
    CHECK(ours[k][0].tokens == theirs[k].at("tokens").template get<std::vector<std::int32_t>>());
    for (std::size_t t = 0; t < std::size_t(tokens); ++t)
      CHECK(ours[k][0].log_probabilities.at(t) ==
            doctest::Approx(theirs[k].at("log_probabilities").at(t).template get<double>())
                .epsilon(1e-2));
  }
}

TEST_CASE("greedy texts of a GPT-2 are those of llama.cpp") { compare<Gpt>(); }
TEST_CASE("greedy texts of a Llama are those of llama.cpp") { compare<Llama<llama>>(); }
TEST_CASE("greedy texts of a Qwen2 are those of llama.cpp") { compare<Llama<qwen2>>(); }
TEST_CASE("greedy texts of a Mistral are those of llama.cpp") { compare<Llama<mistral>>(); }

}  // namespace sinter::detail::testing::gguf_texts_tests
