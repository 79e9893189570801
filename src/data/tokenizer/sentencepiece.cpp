// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/sentencepiece.hpp"

#include "data/tokenizer/sentencepiece_file.hpp"
#include "data/tokenizer/vocabulary.hpp"

#if SINTER_HAS_SENTENCEPIECE
#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer/line_cut.hpp"
#include "sinter/error.hpp"

/// The library and libc10 of LibTorch have a variable of this name, 32 bytes that the library
/// constructs and 4 that nothing reads. The loader gives both the first that it finds: were that
/// libc10's, what follows it there would be overwritten. A program's own comes before both.
extern "C" {
[[gnu::visibility("default")]] alignas(64) extern char FLAGS_minloglevel[64];
alignas(64) char FLAGS_minloglevel[64];
}

namespace sinter::detail {
namespace {

using Kind = SentencePieceFile::Kind;

/// The library counts bytes by int, of a text that normalising may have made longer.
constexpr std::size_t longest_text = std::size_t(1) << 28;

/// The text of a token that follows others.
std::string decoded(const SentencePieceFile& file, const SentencePieceFile::Piece& piece) {
  switch (piece.kind) {
    case Kind::control:
      return "";
    case Kind::unknown:
      return file.unknown_text;
    case Kind::byte:  // "<0x41>"; the library has looked at it
      return std::string(1, char(std::stoi(piece.text.substr(1, 4), nullptr, 16)));
    default:
      break;
  }
  std::string text = piece.text;
  for (std::size_t at; (at = text.find(SentencePieceFile::blank)) != text.npos;)
    text.replace(at, SentencePieceFile::blank.size(), " ");
  return text;
}

/// Whether lines are cut into pieces without a look at others: a newline becomes the blank before the
/// next line, as it has one when it is alone, those at both ends are gone, and a blank only begins
/// pieces, and is one.
bool lines_are_apart(const SentencePieceFile& file) {
  const auto crosses = [](const SentencePieceFile::Piece& piece) {
    return piece.text.find(SentencePieceFile::blank, 1) != piece.text.npos ||
           (piece.kind == Kind::user_defined &&
            (piece.text.find_first_of(" \n") != piece.text.npos ||
             piece.text.starts_with(SentencePieceFile::blank)));
  };
  const auto is_blank = [](const SentencePieceFile::Piece& piece) {
    return piece.kind == Kind::normal && piece.text == SentencePieceFile::blank;
  };
  return file.adds_blank && !file.blanks_behind && file.removes_blanks && file.escapes_blanks &&
         file.newlines_are_blanks && std::ranges::none_of(file.pieces, crosses) &&
         std::ranges::any_of(file.pieces, is_blank);
}

class SentencePiece {
  sentencepiece::SentencePieceProcessor processor;
  std::vector<std::string> texts;  // by id
  bool apart;

  void encode(std::string_view text, std::vector<std::int32_t>& to) const {
    if (text.size() > longest_text)
      throw ArgumentError(
          fmt::format("A text has {} bytes, and SentencePiece takes at most {} at once. Cut it "
                      "into several files.",
                      text.size(), longest_text));
    std::vector<int> ids;
    if (const auto status = processor.Encode(text, &ids); !status.ok())
      throw ArgumentError(fmt::format("SentencePiece cannot encode a text of {} bytes: {}.",
                                      text.size(), status.message()));
    to.insert(to.end(), ids.begin(), ids.end());
  }

 public:
  SentencePiece(std::string_view model, const SentencePieceFile& file)
      : apart(lines_are_apart(file)) {
    try {
      if (const auto status = processor.LoadFromSerializedProto(model); !status.ok())
        throw TokenizerProblem(fmt::format("SentencePiece refuses it: {}", status.message()));
    } catch (const TokenizerProblem&) {
      throw;
    } catch (const std::exception& error) {
      throw TokenizerProblem(fmt::format("SentencePiece refuses it: {}", error.what()));
    }
    for (const SentencePieceFile::Piece& piece : file.pieces) texts.push_back(decoded(file, piece));
  }

  /// Line by line where that may be done: unigram adds up what tokens cost from where a text begins,
  /// in 24 bits, and behind some thousand tokens the sum is too coarse to choose by.
  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> ids;
    while (apart) {
      const std::optional<std::size_t> cut = line_cut(text, 0);
      if (!cut) break;
      encode(text.substr(0, *cut), ids);
      text.remove_prefix(*cut);
    }
    encode(text, ids);
    return ids;
  }
  bool cuts_at_lines() const { return apart; }
  const std::string& decode(std::int32_t token) const {
    if (token < 0 || std::size_t(token) >= texts.size())
      throw ArgumentError(fmt::format("The tokenizer has no token {}; its tokens are below {}.",
                                      token, texts.size()));
    return texts[std::size_t(token)];
  }
};

}  // namespace

Tokenizer read_sentencepiece(std::string_view model) {
  const SentencePieceFile file = read_sentencepiece_file(model);
  if (file.changes_decoded)
    throw TokenizerProblem(
        "it normalises what was decoded (denormalizer_spec), and tokens have no "
        "text of their own then; models without are understood");
  Tokenizer tokenizer;
  auto pieces = std::make_shared<const SentencePiece>(model, file);
  tokenizer.encode = [pieces](std::string_view text) { return pieces->encode(text); };
  tokenizer.decode = [pieces](std::int32_t token) { return pieces->decode(token); };
  tokenizer.vocabulary = std::int32_t(file.pieces.size());
  if (file.adds_blank && !file.blanks_behind) tokenizer.lead = " ";
  for (std::size_t id = 0; id < file.pieces.size(); ++id)
    if (const auto& [text, kind, score] = file.pieces[id];
        kind == Kind::control || kind == Kind::unknown)
      tokenizer.special.push_back({text, std::int32_t(id)});
  tokenizer.cuts_at_lines = pieces->cuts_at_lines();
  return tokenizer;
}

}  // namespace sinter::detail

#else

namespace sinter::detail {

Tokenizer read_sentencepiece(std::string_view model) {
  read_sentencepiece_file(model);
  throw LibraryMissing(
      "it is a model of SentencePiece, whose library was not there when Sinter was built. Install "
      "it (apt-get install libsentencepiece-dev), configure and build again, or use the "
      "tokenizer.json of the same model");
}

}  // namespace sinter::detail

#endif
