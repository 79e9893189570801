// SPDX-License-Identifier: Apache-2.0
// The files of tokenizers. An input with a line "---" is GPT-2's two files, the vocabulary before it
// and the merges behind it; any other is a tokenizer.json.
#include "data/tokenizer/load.hpp"
#include "files/json.hpp"
#include "fuzz/support.hpp"

using namespace sinter;

namespace {

BpeParts read(const std::string& input) {
  constexpr std::string_view cut = "\n---\n";
  const std::size_t at = input.find(cut);
  if (at == input.npos) return read_tokenizer_json(input);
  const std::string_view all = input;
  return read_gpt2_files(all.substr(0, at), all.substr(at + cut.size()), "vocab.bpe");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  try {
    const Tokenizer tokenizer = tokenizer_of(read(input));
    // The file itself is a text; so is one with all kinds of characters.
    for (const std::string& text : {input, std::string("it's 1\xc3\xa9 \xff\n  ab<s>")}) {
      const std::vector<std::int32_t> ids = tokenizer.encode(text);
      for (std::int32_t id : ids)
        fuzz::ensure(id >= 0 && id < tokenizer.vocabulary, "ids are known");
      fuzz::ensure(text.empty() || !tokenizer.text_of(ids).empty() || !tokenizer.lead.empty(),
                   "tokens have a text");
    }
  } catch (const TokenizerProblem&) {
  } catch (const JsonError&) {
  } catch (const ArgumentError&) {  // a byte without a token
  }
  return 0;
}
