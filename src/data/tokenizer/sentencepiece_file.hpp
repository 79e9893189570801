// SPDX-License-Identifier: Apache-2.0
// What a file of SentencePiece says (sentencepiece_model.proto of github.com/google/sentencepiece).
// Its library believes what it reads, and a damaged file leads it out of its memory. What it relies
// on is therefore checked here, with or without the library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail {

struct SentencePieceFile {
  static constexpr std::string_view blank =
      "\xe2\x96\x81";  // what stands for one in pieces, U+2581
  /// As the file numbers them.
  enum class Kind { normal = 1, unknown, control, user_defined, unused, byte };
  struct Piece {
    std::string text;
    Kind kind = Kind::normal;
    float score = 0;  // of two merges the one with the higher is first
  };
  std::vector<Piece> pieces;  // by id
  bool is_bpe = false;

  // What is done to a text before it is cut.
  bool adds_blank = true;            // before it
  bool blanks_behind = false;        // that blank, and those of pieces, are behind words
  bool removes_blanks = true;        // at both ends, and all but one of several
  bool escapes_blanks = true;        // as U+2581
  bool has_rules = false;            // that replace characters, such as those of NFKC
  bool newlines_are_blanks = false;  // each, whatever is beside it, and U+2581, too
  bool changes_decoded = false;      // decoding normalises, too

  std::string unknown_text = " \xe2\x81\x87 ";  // what an unknown token is decoded to
};

/// Whether a file is rather a model of SentencePiece than the text that a tokenizer.json is.
bool looks_like_sentencepiece(std::string_view file);

/// throws    TokenizerProblem
SentencePieceFile read_sentencepiece_file(std::string_view file);

}  // namespace sinter::detail
