// SPDX-License-Identifier: Apache-2.0
// The files of tokenizers. An input with a line "---" is GPT-2's two files, the vocabulary before it
// and the merges behind it; one with a line "+++" is BERT's vocab.txt, and behind it the
// tokenizer_config.json; one that begins with a line "hex" has a model of SentencePiece in such
// digits, which is read without its library; any other is a tokenizer.json.
#include "data/tokenizer/load.hpp"
#include "data/tokenizer/sentencepiece_file.hpp"
#include "files/json.hpp"
#include "fuzz/support.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

std::variant<BpeParts, WordPieceParts> read(std::string_view input) {
  constexpr std::size_t cut = 5;  // bytes of a line and the newline before it
  if (const std::size_t at = input.find("\n---\n"); at != input.npos)
    return read_gpt2_files(input.substr(0, at), input.substr(at + cut), "vocab.bpe", {});
  if (const std::size_t at = input.find("\n+++\n"); at != input.npos)
    return read_bert_vocabulary(input.substr(0, at),
                                {.tokenizer_config = std::string(input.substr(at + cut))});
  return read_tokenizer_json(input);
}

/// The bytes of pairs of hexadecimal digits; any other character ends one.
std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (int high = -1; char c : digits) {
    const bool letter = c >= 'a' && c <= 'f';
    const int digit = letter ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : -1;
    if (high >= 0 && digit >= 0) bytes += char(16 * high + digit);
    high = high >= 0 ? -1 : digit;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  try {
    if (input.starts_with("hex\n")) {
      const SentencePieceFile file = read_sentencepiece_file(bytes_of(input.substr(4)));
      fuzz::ensure(!file.pieces.empty(), "a model has pieces");
      return 0;
    }
    auto all = read(input);
    const Tokenizer tokenizer =
        std::visit([](auto& parts) { return tokenizer_of(std::move(parts)); }, all);
    // The file itself is a text; so is one with all kinds of characters.
    for (const std::string& text :
         {input, std::string("it's 1\xc3\xa9 e\xcc\x81 \xff\n  Ab<s>\xe4\xb8\xad")}) {
      const std::vector<std::int32_t> ids = tokenizer.encode(text);
      for (std::int32_t id : ids)
        fuzz::ensure(id >= 0 && id < tokenizer.vocabulary, "ids are known");
      fuzz::ensure(ids.empty() || !tokenizer.text_of(ids).empty() || !tokenizer.lead.empty(),
                   "tokens have a text");
    }
  } catch (const TokenizerProblem&) {
  } catch (const JsonError&) {
  } catch (const ArgumentError&) {  // a byte without a token
  }
  return 0;
}
