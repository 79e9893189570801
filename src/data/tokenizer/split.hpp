// SPDX-License-Identifier: Apache-2.0
// Cuts a text into the pieces that byte-level BPE works on, one after the other and without a gap:
// what the regular expressions of GPT-2, Llama 3 and Qwen2 match, by hand, as that is
// faster than by text_pattern.hpp, which cuts by other patterns.
#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <string_view>

#include "data/tokenizer/characters.hpp"

namespace sinter::detail {

/// Where a text is cut: by the regular expression of GPT-2, Llama 3 or Qwen2; before each ▁; before
/// each run of ▁; or nowhere.
enum class Pattern { none, gpt2, llama3, qwen2, marks, mark_runs };

/// What stands for a blank in the tokens of Llama 2 and Mistral.
inline constexpr std::string_view blank_mark = "▁";

inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Goes through a text; each function below returns where its match ends, or where it began if
/// there is none.
class Splitter {
  using Kind = CharacterKind;
  const CharacterKind* kinds;
  const char* end;

 public:
  Splitter(const CharacterKind* kinds_, const char* end_) : kinds(kinds_), end(end_) {}

  /// Of one piece at `at`, which is not the end.
  const char* gpt2(const char* at) const {
    if (const char* after = plain_word(at); after != at) return after;
    if (*at == '\'')
      if (const char* after = contraction(at, false); after != at) return after;
    Character first = character(at);
    const char* next = at + first.bytes;
    if (*at == ' ' && next != end) {
      const Character second = character(next);
      if (second.kind != Kind::space) first = second, next += second.bytes;
    }
    return first.kind == Kind::space ? blanks(at) : run(next, first.kind);
  }
  /// The same, with up to `digits` numbers together.
  const char* llama3(const char* at, int digits) const {
    if (const char* after = plain_word(at); after != at) return after;
    if (*at == '\'')
      if (const char* after = contraction(at, true); after != at) return after;
    const Character first = character(at);
    const char* next = at + first.bytes;
    if (first.kind == Kind::letter) return run(next, Kind::letter);
    if (first.kind == Kind::number) return numbers(next, digits - 1);
    if (next != end && *at != '\r' && *at != '\n') {
      const Character second = character(next);
      if (second.kind == Kind::letter) return run(next + second.bytes, Kind::letter);
      if (*at == ' ' && second.kind == Kind::other)
        return newlines(run(next + second.bytes, Kind::other));
    }
    if (first.kind == Kind::other) return newlines(run(next, Kind::other));
    return blanks_and_lines(at);
  }
  /// Up to the next ▁, or with `runs` to the next that follows something else.
  const char* marked(const char* at, bool runs) const {
    const std::string_view rest(at, std::size_t(end - at));
    std::size_t from = rest.starts_with(blank_mark) ? blank_mark.size() : 0;
    if (runs)
      while (rest.substr(from).starts_with(blank_mark)) from += blank_mark.size();
    const std::size_t next = rest.find(blank_mark, from);
    return next == rest.npos ? end : at + next;
  }

 private:
  Character character(const char* at) const { return character_at(kinds, at, end); }

  /// What all patterns cut alike, and most of the pieces: up to 15 letters of ASCII, or a blank and
  /// up to 14, behind which stands something else of ASCII. All of it is seen at once.
  const char* plain_word(const char* at) const {
#ifdef __SSE2__
    if (end - at < 16) return at;
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i small = _mm_or_si128(text, _mm_set1_epi8(0x20));
    const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(small, _mm_set1_epi8('a' - 1)),
                                          _mm_cmplt_epi8(small, _mm_set1_epi8('z' + 1)));
    const int blank = *at == ' ';
    const int count = std::countr_one(unsigned(_mm_movemask_epi8(letters)) >> blank);
    const char* const after = at + blank + count;
    if (count > 0 && blank + count < 16 && static_cast<unsigned char>(*after) < 0x80) return after;
#endif
    return at;
  }
  const char* run(const char* at, Kind kind) const {
    while (at != end) {
      const Character next = character(at);
      if (next.kind != kind) break;
      at += next.bytes;
    }
    return at;
  }
  const char* numbers(const char* at, int most) const {
    for (; most > 0 && at != end; --most) {
      const Character next = character(at);
      if (next.kind != Kind::number) break;
      at += next.bytes;
    }
    return at;
  }
  const char* newlines(const char* at) const {
    while (at != end && (*at == '\r' || *at == '\n')) ++at;
    return at;
  }
  /// \s+(?!\S)|\s+: all white space but the last before something else.
  const char* blanks(const char* begin) const {
    const char *at = begin, *last = begin;
    while (at != end) {
      const Character next = character(at);
      if (next.kind != Kind::space) return last == begin ? at : last;
      last = at;
      at += next.bytes;
    }
    return end;
  }
  /// \s*[\r\n]+|\s+(?!\S)|\s+
  const char* blanks_and_lines(const char* begin) const {
    const char* line = begin;
    const char* const after = run(begin, Kind::space);
    for (const char* at = begin; at != after; ++at)
      if (*at == '\r' || *at == '\n') line = at + 1;
    return line != begin ? line : blanks(begin);
  }
  /// 's|'t|'re|'ve|'m|'ll|'d, where `any_case` also 'S, and 'ſ, which is a small s.
  const char* contraction(const char* at, bool any_case) const {
    auto letter = [&](int k) -> char {
      if (end - at <= k) return 0;
      const char c = at[k];
      return any_case && c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    };
    const char a = letter(1), b = letter(2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
    return any_case && a == '\xc5' && b == '\xbf' ? at + 3 : at;
  }
};

/// Calls take(begin, bytes) for each piece.
template <class Take>
void split(std::string_view text, Pattern pattern, Take&& take) {
  const char *at = text.data(), *const end = at + text.size();
  const Splitter splitter(character_kinds(), end);
  auto cut = [&](auto&& after) {
    while (at != end) {
      const char* const next = after(at);
      take(at, std::size_t(next - at));
      at = next;
    }
  };
  switch (pattern) {
    case Pattern::none:
      return cut([&](const char*) { return end; });
    case Pattern::gpt2:
      return cut([&](const char* p) { return splitter.gpt2(p); });
    case Pattern::llama3:
      return cut([&](const char* p) { return splitter.llama3(p, 3); });
    case Pattern::qwen2:
      return cut([&](const char* p) { return splitter.llama3(p, 1); });
    case Pattern::marks:
      return cut([&](const char* p) { return splitter.marked(p, false); });
    case Pattern::mark_runs:
      return cut([&](const char* p) { return splitter.marked(p, true); });
  }
}

}  // namespace sinter::detail
