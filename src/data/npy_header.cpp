// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <set>

#include "data/array_file.hpp"

namespace sinter::detail {
namespace {

/// Reads a Python dictionary of a string, a truth and a tuple, from front to back.
class Parser {
  std::string_view text;
  std::size_t at = 0;

 public:
  explicit Parser(std::string_view t) : text(t) {}

  NpyHeader header() {
    NpyHeader result;
    std::set<std::string> seen;
    expect('{');
    while (!take('}')) {
      const std::string key = string("a key");
      if (!seen.insert(key).second) fail("has the key '" + printable(key) + "' twice");
      expect(':');
      value(key, result);
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    if (at < text.size()) fail("goes on after its end");
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (!seen.contains(key)) fail(fmt::format("lacks '{}'", key));
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw fmt::format("its header {} (byte {} of the header)", what, at);
  }
  void skip_spaces() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
  }
  bool take(char letter) {
    skip_spaces();
    if (at == text.size() || text[at] != letter) return false;
    ++at;
    return true;
  }
  void expect(char letter) {
    if (!take(letter)) fail(fmt::format("lacks '{}'", letter));
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text.substr(at).starts_with(word)) return false;
    at += word.size();
    return true;
  }
  std::string string(const char* what) {
    skip_spaces();
    const char quote = at < text.size() ? text[at] : '\0';
    if (quote != '\'' && quote != '"') fail(fmt::format("lacks {} in quotes", what));
    const std::size_t begin = at + 1, end = text.find(quote, begin);
    if (end == text.npos) fail("has a quote without an end");
    at = end + 1;
    return std::string(text.substr(begin, end - begin));
  }
  std::uint64_t number() {
    skip_spaces();
    std::uint64_t result = 0;
    const char *begin = text.data() + at, *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(begin, end, result);
    if (error != std::errc{}) fail("has a dimension that is no whole number below 2^64");
    at += std::size_t(stopped - begin);
    take('L');  // as Python 2 wrote long ones
    return result;
  }

  void value(const std::string& key, NpyHeader& result) {
    if (key == "descr") {
      if (take('[')) fail("is that of an array of records, whose fields are not read");
      result.descr = string("the type of the numbers");
    } else if (key == "fortran_order") {
      result.fortran_order = take_word("True");
      if (!result.fortran_order && !take_word("False")) fail("lacks True or False");
    } else if (key == "shape") {
      expect('(');
      while (!take(')')) {
        result.shape.push_back(number());
        if (take(',')) continue;
        expect(')');
        break;
      }
    } else {
      fail("has the unknown key '" + printable(key) + "'");
    }
  }
};

}  // namespace

NpyHeader NpyHeader::parse(std::string_view text) { return Parser(text).header(); }

}  // namespace sinter::detail
