// SPDX-License-Identifier: Apache-2.0
// Texts from a program of your own: behind many prompts at once, with each token as it is written,
// and cancelled where the program says so. The weights are random; load_weights() takes others.
#include <cstdio>
#include <sinter/sinter.hpp>
using namespace sinter;

struct tiny
    : Recipe<Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = 256, .positions = 64}>,
             Bytes<{.context = 64}>> {};

int main() {
  Trainer<tiny> trainer({.seed = 1, .threads = 1});
  const Tokenizer tokenizer = byte_tokenizer();
  std::vector<GenerationRequest> requests;
  for (const char* prompt : {"To be", "or not", "to be"})
    requests.push_back({.prompt = {.tokens = tokenizer.encode(prompt)},
                        .tokens = 20,
                        .sampling = {.temperature = 0.7, .top_p = 0.9}});
  requests.back().sampling = {.temperature = 0};
  requests.back().beams = {.beams = 3};

  // Each token of the first text is shown as it is written; results come in the order of requests.
  int tokens = 0;
  GenerationHooks hooks;
  hooks.on_token = [&](const WrittenToken& written) {
    if (written.request == 0) std::printf("%s", tokenizer.decode(written.token).c_str());
    ++tokens;
    return true;  // false cancels all
  };
  hooks.on_results = [&](std::size_t request, const std::vector<GeneratedText>& results) {
    std::printf("\nrequest %zu: score %.3f, %zu tokens\n", request, results[0].score,
                results[0].tokens.size());
  };
  const auto texts = generate(trainer, requests, hooks);
  bool good = texts.size() == 3 && tokens == 40;  // none of the beams' tokens
  for (const auto& results : texts) good &= results[0].end == GenerationEnd::length;

  // Asked before each token, a function cancels after five. What was written by then is returned.
  int asked = 0;
  const auto some = generate(trainer, requests, {.goes_on = [&] { return asked++ < 5; }});
  for (const auto& results : some) {
    good &= results[0].end == GenerationEnd::cancelled && results[0].tokens.size() == 5;
  }
  for (std::size_t k = 0; k < 5; ++k) good &= some[0][0].tokens[k] == texts[0][0].tokens[k];
  std::printf(good ? "Texts were written and cancelled.\n" : "Something is wrong.\n");
  return good ? 0 : 1;
}
