// SPDX-License-Identifier: Apache-2.0
// Makes the steps of a TextPattern from its text. Whatever Oniguruma might read in another way is
// refused.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/tokenizer/text_pattern.hpp"
#include "data/tokenizer/text_pattern_characters.hpp"

namespace sinter::detail {
namespace {

constexpr std::uint32_t no_limit = ~std::uint32_t(0);
constexpr std::size_t most_steps = 4000, most_sets = 100;

/// Whether two letters are also one character without regard to case, such as ß.
bool make_one(std::uint32_t first, std::uint32_t second) {
  const char pair[]{char(first | 0x20), char(second | 0x20)};
  const std::string_view both(pair, 2);
  return both == "ss" || both == "ff" || both == "fi" || both == "fl" || both == "st";
}

}  // namespace

class TextPattern::Parser : PatternCharacters {
  using Kind = PatternStep::Kind;
  TextPattern& made;
  std::uint32_t letter_before = 0;  // the letter without regard to case that ends here

 public:
  Parser(TextPattern& m, std::string_view p) : PatternCharacters(p), made(m) {}

  void parse() {
    if (well_formed_prefix() != pattern.size()) refuse("bytes that are no UTF-8");
    alternatives();
    if (at < pattern.size()) refuse("a ) without its (");
    made.may_be_empty = may_be_empty(made.steps);
    add({.kind = Kind::done});
  }

 private:
  std::uint32_t here() const { return std::uint32_t(made.steps.size()); }
  void add(const PatternStep& step) {
    if (made.steps.size() >= most_steps) refuse("more than can be kept of it");
    made.steps.push_back(step);
  }
  void add_set(CharacterSet set) {
    if (made.sets.size() >= most_sets) refuse("more than can be kept of it");
    add({.kind = Kind::one_of, .set = std::uint32_t(made.sets.size())});
    made.sets.push_back(std::move(set));
  }

  using Steps = std::vector<PatternStep>;
  /// The steps that `parse_some` adds, taken off the end. Their targets count from their begin.
  template <class Act>
  Steps taken_off(Act&& parse_some) {
    const std::uint32_t begin = here();
    parse_some();
    Steps some(made.steps.begin() + begin, made.steps.end());
    made.steps.resize(begin);
    for (PatternStep& step : some) step.target -= begin;
    return some;
  }
  void append(const Steps& some) {
    const std::uint32_t begin = here();
    for (PatternStep step : some) {
      step.target += begin;
      add(step);
    }
  }

  void alternatives() {
    if (++depth > deepest_group) refuse("a group so deep");
    Steps all = taken_off([&] { sequence(); });
    while (takes("|")) {
      const Steps other = taken_off([&] { sequence(); });
      const std::uint32_t begin = here();
      add({.kind = Kind::either, .target = begin + std::uint32_t(all.size()) + 2});
      append(all);
      add({.kind = Kind::jump, .target = here() + 1 + std::uint32_t(other.size())});
      append(other);
      all = Steps(made.steps.begin() + begin, made.steps.end());
      made.steps.resize(begin);
      for (PatternStep& step : all) step.target -= begin;
    }
    append(all);
    --depth;
  }
  void sequence() {
    letter_before = 0;
    while (left() && pattern[at] != '|' && pattern[at] != ')') repeated();
    letter_before = 0;
  }
  void repeated() {
    const std::uint32_t letters = letter_before;
    letter_before = 0;
    bool repeats = true;
    const Steps one = taken_off([&] { repeats = atom(letters); });
    std::uint32_t least = 1, most = 1;
    bool possessive = false, lazy = false;
    if (quantifier(least, most, possessive, lazy)) {
      if (!repeats) refuse("something repeated that takes no text");
      letter_before = 0;
    }
    if (possessive) {
      const std::uint32_t begin = here();
      add({.kind = Kind::atomic});
      repeat(one, least, most, false);
      add({.kind = Kind::done});
      made.steps[begin].target = here();
    } else {
      repeat(one, least, most, lazy);
    }
  }
  bool quantifier(std::uint32_t& least, std::uint32_t& most, bool& possessive, bool& lazy) {
    bool bounded = false;
    if (takes("*"))
      least = 0, most = no_limit;
    else if (takes("+"))
      most = no_limit;
    else if (takes("?"))
      least = 0;
    else if (left() && pattern[at] == '{')
      bounds(least, most), bounded = true;
    else
      return false;
    if (!bounded) {
      possessive = takes("+");
      lazy = !possessive && takes("?");
    }
    if (left() && std::string_view("*+?{").find(pattern[at]) != std::string_view::npos)
      refuse("a repetition of a repetition");
    return true;
  }
  void bounds(std::uint32_t& least, std::uint32_t& most) {
    constexpr std::uint32_t largest = 1000;
    const std::size_t close = pattern.find('}', at);
    const char* from = pattern.data() + at + 1;
    const char* const end = pattern.data() + (close == pattern.npos ? at + 1 : close);
    auto number = [&](std::uint32_t& value) {
      const auto [after, error] = std::from_chars(from, end, value);
      if (error == std::errc()) from = after;
      return error == std::errc() && value <= largest;
    };
    const bool has_least = number(least);
    most = least;
    bool fine = has_least;
    if (from != end && *from == ',') {
      ++from;
      most = no_limit;
      if (!has_least) least = 0;
      fine = (from == end && has_least) || (from != end && number(most) && most >= least);
    }
    if (!fine || from != end) refuse("a { that is no repetition such as {1,3}");
    at = close + 1;
  }
  void repeat(const Steps& one, std::uint32_t least, std::uint32_t most, bool lazy) {
    if (one.size() == 1 && one[0].kind == Kind::one_of && !lazy && (least != 1 || most != 1))
      return add({.kind = Kind::run, .set = one[0].set, .least = least, .most = most});
    if (least == 1 && most == 1) return append(one);
    if (most > 1 && may_be_empty(one)) refuse("a repetition of what may be empty");
    for (std::uint32_t k = 0; k < least; ++k) append(one);
    const Kind choose = lazy ? Kind::or_else : Kind::either;
    const auto size = std::uint32_t(one.size());
    if (most == no_limit) {
      const std::uint32_t begin = here();
      add({.kind = choose, .target = begin + size + 2});
      append(one);
      add({.kind = Kind::jump, .target = begin});
      return;
    }
    const std::uint32_t end = here() + (most - least) * (size + 1);
    for (std::uint32_t k = least; k < most; ++k) {
      add({.kind = choose, .target = end});
      append(one);
    }
  }
  /// Whether some steps can match without taking a character; if in doubt, they can.
  static bool may_be_empty(const Steps& some) {
    const auto takes_text = [](const PatternStep& step) {
      return step.kind == Kind::character || step.kind == Kind::one_of ||
             (step.kind == Kind::run && step.least > 0);
    };
    const auto chooses = [](const PatternStep& step) {
      return step.kind == Kind::either || step.kind == Kind::or_else || step.kind == Kind::jump;
    };
    // Each way from the begin must take a character before the end.
    std::vector<bool> seen(some.size());
    std::vector<std::size_t> open{0};
    while (!open.empty()) {
      const std::size_t now = open.back();
      open.pop_back();
      if (now >= some.size()) return true;
      if (seen[now]) continue;
      seen[now] = true;
      if (takes_text(some[now])) continue;
      const Kind kind = some[now].kind;
      if (chooses(some[now]) || kind == Kind::ahead || kind == Kind::not_ahead)
        open.push_back(some[now].target);
      if (kind != Kind::jump) open.push_back(now + 1);
    }
    return false;
  }

  /// Parses what a repetition may follow. False if it takes no text.
  bool atom(std::uint32_t letters) {
    if (takes("(?:")) return group(), true;
    if (takes("(?i:")) {
      const bool outer = std::exchange(any_case, true);
      group();
      any_case = outer;
      return true;
    }
    if (takes("(?>")) return inner(Kind::atomic), true;
    if (takes("(?=")) return inner(Kind::ahead), false;
    if (takes("(?!")) return inner(Kind::not_ahead), false;
    if (pattern.substr(at).starts_with("(?"))
      refuse(fmt::format("the group {}", pattern.substr(at, 3)));
    if (takes("(")) return group(), true;
    if (takes("^")) return add({.kind = Kind::line_begin}), false;
    if (takes("$")) return add({.kind = Kind::line_end}), false;
    if (takes("\\A")) return add({.kind = Kind::text_begin}), false;
    if (takes("\\z")) return add({.kind = Kind::text_end}), false;
    if (takes(".")) {
      CharacterSet line;
      line.add('\n', '\n');
      line.negate();
      return add_set(std::move(line)), true;
    }
    if (takes("[")) return add_set(set_in_brackets()), true;
    if (pattern[at] == '\\') {
      if (std::optional<CharacterSet> set = escaped_set()) return add_set(std::move(*set)), true;
      return literal(escaped_code(), letters), true;
    }
    if (std::string_view("*+?{").find(pattern[at]) != std::string_view::npos)
      refuse("a repetition of nothing");
    return literal(next_code(), letters), true;
  }
  void group() {
    alternatives();
    close();
  }
  void close() {
    if (!takes(")")) refuse("a ( without its )");
  }
  void inner(Kind kind) {
    const std::uint32_t begin = here();
    add({.kind = kind});
    alternatives();
    close();
    add({.kind = Kind::done});
    made.steps[begin].target = here();
  }
  void literal(std::uint32_t code, std::uint32_t letters) {
    if (!any_case) return add({.kind = Kind::character, .code = code});
    if (code >= 0x80) refuse("a letter that is not of ASCII, without regard to case,");
    if (!is_ascii_letter(code)) return add({.kind = Kind::character, .code = code});
    if (letters && make_one(letters, code))
      refuse("a pair of letters that is also one, without regard to case,");
    CharacterSet both;
    add_any_case(both, code);
    add_set(std::move(both));
    letter_before = code;
  }
};

TextPattern::TextPattern(std::string_view pattern) : source(pattern) {
  Parser(*this, pattern).parse();
}

}  // namespace sinter::detail
