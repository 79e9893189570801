// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/text_pattern.hpp"

#include <fmt/format.h>

#include <utility>

#include "data/tokenizer/vocabulary.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

/// Tries a pattern at places of one text.
class TextPattern::Matcher {
  using Kind = PatternStep::Kind;
  /// A way that is still open: from a step on, at `at` or, for a run, at any place back to `least`.
  struct Way {
    std::uint32_t step;
    std::size_t at, least;
  };
  static constexpr std::size_t nowhere = ~std::size_t(0);

  const TextPattern& pattern;
  const std::string_view text;
  const CharacterKind* const kinds = character_kinds();
  std::vector<Way> ways;
  std::size_t tries = 0;

  Character character(std::size_t at) const {
    return character_at(kinds, text.data() + at, text.data() + text.size());
  }
  bool is_in(const CharacterSet& set, std::size_t& at) const {
    if (at == text.size()) return false;
    const Character next = character(at);
    if (!set.has(next.code)) return false;
    at += next.bytes;
    return true;
  }
  void count() {
    constexpr std::size_t most = 2'000'000, each_byte = 16;
    if (++tries <= most + each_byte * text.size()) return;
    throw ArgumentError(
        fmt::format("The pattern {} of the tokenizer takes too many ways through a text of {} "
                    "bytes. Cut the text into several, or use another tokenizer.",
                    shown(pattern.source), text.size()));
  }
  bool run(const PatternStep& step, std::uint32_t number, std::size_t& at) {
    const CharacterSet& set = pattern.sets[step.set];
    std::uint32_t taken = 0;
    std::size_t least = at;
    while (taken < step.most && is_in(set, at)) {
      if (++taken == step.least) least = at;
      count();
    }
    if (taken < step.least) return false;
    if (taken > step.least) ways.push_back({number + 1, at, least});
    return true;
  }
  /// Goes on with the newest open way; false if there is none above `base`.
  bool go_back(std::size_t base, std::uint32_t& step, std::size_t& at) {
    if (ways.size() == base) return false;
    Way& way = ways.back();
    step = way.step, at = way.at;
    if (way.at == way.least) {
      ways.pop_back();
    } else {
      way.at = at = character_before(text, way.at);
      if (way.at == way.least) ways.pop_back();
    }
    return true;
  }
  bool at_line_begin(std::size_t at) const {
    return at == 0 || (text[at - 1] == '\n' && at < text.size());
  }
  bool at_line_end(std::size_t at) const {
    if (at < text.size()) return text[at] == '\n';
    return text.empty() || text.back() != '\n';
  }
  /// Does one step, if it can be done.
  bool does(std::uint32_t& step, std::size_t& at) {
    const PatternStep& now = pattern.steps[step];
    switch (now.kind) {
      case Kind::character: {
        if (at == text.size()) return false;
        const Character next = character(at);
        if (next.code != now.code) return false;
        at += next.bytes;
        break;
      }
      case Kind::one_of:
        if (!is_in(pattern.sets[now.set], at)) return false;
        break;
      case Kind::run:
        if (!run(now, step, at)) return false;
        break;
      case Kind::either:
        ways.push_back({now.target, at, at});
        break;
      case Kind::or_else:
        ways.push_back({step + 1, at, at});
        step = now.target;
        return true;
      case Kind::jump:
        step = now.target;
        return true;
      case Kind::line_begin:
        if (!at_line_begin(at)) return false;
        break;
      case Kind::line_end:
        if (!at_line_end(at)) return false;
        break;
      case Kind::text_begin:
        if (at != 0) return false;
        break;
      case Kind::text_end:
        if (at != text.size()) return false;
        break;
      case Kind::ahead:
      case Kind::not_ahead:
      case Kind::atomic: {
        const std::size_t end = matched(step + 1, at);
        if ((end == nowhere) != (now.kind == Kind::not_ahead)) return false;
        if (now.kind == Kind::atomic) at = end;
        step = now.target;
        return true;
      }
      case Kind::done:
        break;
    }
    ++step;
    return true;
  }
  /// Where the match ends that begins at a place; nowhere if there is none.
  std::size_t matched(std::uint32_t step, std::size_t at) {
    const std::size_t base = ways.size();
    for (;;) {
      count();
      if (pattern.steps[step].kind == Kind::done) {
        ways.resize(base);
        return at;
      }
      if (!does(step, at) && !go_back(base, step, at)) return nowhere;
    }
  }

 public:
  Matcher(const TextPattern& p, std::string_view t) : pattern(p), text(t) {}

  std::optional<Match> find(std::size_t from) {
    for (std::size_t at = from;; at += character(at).bytes) {
      tries = 0;
      if (const std::size_t end = matched(0, at); end != nowhere) return Match{at, end};
      if (at == text.size()) return {};
    }
  }
};

std::optional<TextPattern::Match> TextPattern::find(std::string_view text, std::size_t from) const {
  return Matcher(*this, text).find(from);
}

std::optional<TextPattern::Match> TextPattern::next(std::string_view text, std::size_t from,
                                                    std::size_t done, bool after_match) const {
  std::optional<Match> match = find(text, from);
  const bool empty_again = match && after_match && match->begin == match->end && match->end == done;
  if (!empty_again) return match;
  if (done == text.size()) return {};
  const Character skipped =
      character_at(character_kinds(), text.data() + done, text.data() + text.size());
  return find(text, done + skipped.bytes);
}

TextPattern TextPattern::of_text(std::string_view text) {
  TextPattern pattern;
  pattern.source = text;
  for (std::size_t at = 0; at < text.size();) {
    const Character next =
        character_at(character_kinds(), text.data() + at, text.data() + text.size());
    pattern.steps.push_back({.kind = PatternStep::Kind::character, .code = next.code});
    at += next.bytes;
  }
  pattern.steps.push_back({.kind = PatternStep::Kind::done});
  return pattern;
}

TextPattern TextPattern::of_set(CharacterSet set) {
  TextPattern pattern;
  pattern.sets.push_back(std::move(set));
  pattern.steps = {{.kind = PatternStep::Kind::one_of}, {.kind = PatternStep::Kind::done}};
  return pattern;
}

bool TextPattern::is_one_visible_character() const {
  if (steps.size() != 2 || steps[0].kind != PatternStep::Kind::one_of) return false;
  const CharacterKind* const kinds = character_kinds();
  for (std::uint32_t code = 0; code <= 0x3000; ++code)  // the last white space
    if (kinds[code] == CharacterKind::space && sets[steps[0].set].has(code)) return false;
  return true;
}

}  // namespace sinter::detail
