// SPDX-License-Identifier: Apache-2.0
// Regular expressions of tokenizers: those parts of Oniguruma's, which Hugging Face's tokenizers uses,
// that patterns of tokenizers need. Libraries of regular expressions lack the look-ahead or follow
// another version of Unicode, and would cut thousands of characters elsewhere.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/character_set.hpp"

namespace sinter::detail {

/// What a pattern has become: instructions that are tried in order, with a way back where there are
/// several ways on.
struct PatternStep {
  enum class Kind {
    character,  // `code`
    one_of,     // a character of set `set`
    run,        // `least` to `most` characters of set `set`, as many as may be
    either,     // goes on at the next, or else at `target`
    or_else,    // goes on at `target`, or else at the next
    jump,       // to `target`
    line_begin,
    line_end,
    text_begin,
    text_end,
    ahead,      // what follows up to `done` must match here, and takes nothing
    not_ahead,  // what follows up to `done` must not match here
    atomic,     // what follows up to `done` matches in one way only
    done
  };
  Kind kind;
  std::uint32_t code = 0, set = 0, target = 0;
  std::uint32_t least = 0, most = 0;
};

class TextPattern {
  std::string source;
  std::vector<PatternStep> steps;
  std::vector<CharacterSet> sets;
  bool may_be_empty = false;
  class Parser;
  class Matcher;
  TextPattern() = default;

 public:
  /// throws    TokenizerProblem that shows the pattern, and what in it is not understood
  explicit TextPattern(std::string_view pattern);
  /// Of a text that stands for itself.
  static TextPattern of_text(std::string_view text);
  /// Of single characters.
  static TextPattern of_set(CharacterSet set);

  struct Match {
    std::size_t begin, end;
  };
  /// The first match at or behind a place.
  /// throws    ArgumentError if the pattern tries too many ways
  std::optional<Match> find(std::string_view text, std::size_t from) const;

  /// Calls take(begin, end, is_match) for what a text consists of; matches may be empty.
  template <class Take>
  void cut(std::string_view text, Take&& take) const {
    std::size_t done = 0, from = 0;
    bool after_match = false;
    while (std::optional<Match> match = next(text, from, done, after_match)) {
      if (match->begin > done) take(done, match->begin, false);
      take(match->begin, match->end, true);
      done = from = match->end;
      after_match = true;
    }
    if (done < text.size()) take(done, text.size(), false);
  }
  /// False if each match has a character.
  bool may_match_nothing() const { return may_be_empty; }
  /// Whether it matches one character that is no white space.
  bool is_one_visible_character() const;

 private:
  /// As find(), but no empty match where the one before it ends.
  std::optional<Match> next(std::string_view text, std::size_t from, std::size_t done,
                            bool after_match) const;
};

}  // namespace sinter::detail
