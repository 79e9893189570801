// SPDX-License-Identifier: Apache-2.0
// A tiny encoder-decoder of the letters a to k, which reads no files.
#include <sinter/sinter.hpp>

#include "support/axes_models.hpp"
using namespace sinter;

/// Texts of at most 9 letters, and replies of at most 5, each with the mark `a` before it.
struct Letters : detail::testing::TwoContexts {
  static Tokenizer tokenizer() {
    Tokenizer letters;
    letters.vocabulary = vocabulary;
    letters.encode = [](std::string_view text) {
      std::vector<std::int32_t> tokens;
      for (char letter : text) tokens.push_back(letter - 'a');
      return tokens;
    };
    letters.decode = [](std::int32_t token) { return std::string(1, char('a' + token)); };
    return letters;
  }
  static Prompt prompt(const Tokenizer& tokenizer, std::string_view text) {
    return {.tokens = tokenizer.encode(text), .reply = context, .decoder = {0}};
  }
};

struct sourced
    : Recipe<detail::testing::TinySeq2Seq, Letters, AdamW<>, Batch<{.global = 2, .micro = 2}>> {};

int main(int argc, char** argv) { return run<sourced>(argc, argv); }
