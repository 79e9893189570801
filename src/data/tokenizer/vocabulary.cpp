// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/vocabulary.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "data/tokenizer/characters.hpp"
#include "files/json.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

/// GPT-2's alphabet: of each code point the byte that it stands for, or -1.
std::array<int, 324> bytes_of_code_points() {
  std::array<int, 324> all;
  all.fill(-1);
  std::size_t others = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool seen = (byte > ' ' && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    all[seen ? std::size_t(byte) : others++] = byte;
  }
  return all;
}

}  // namespace

std::string shown(std::string_view token) { return "'" + printable(token, 60) + "'"; }

Vocabulary::Vocabulary(const nlohmann::json& object, std::string_view where) {
  if (!object.is_object()) throw TokenizerProblem(fmt::format("{} is no object", where));
  for (const auto& [spelling, id] : object.items())
    add(spelling,
        integer_of<std::int32_t>(id, fmt::format("the id of {} in {}", shown(spelling), where)));
}

const std::string& text_of_token(const std::vector<std::string>& texts, std::int32_t token) {
  if (token >= 0 && std::size_t(token) < texts.size()) {
    const std::string& text = texts[std::size_t(token)];
    if (!text.empty()) return text;
  }
  throw ArgumentError(
      fmt::format("The tokenizer has no token {}; its tokens are below {}.", token, texts.size()));
}

void Vocabulary::add(const std::string& spelling, std::int32_t id) {
  if (spelling.empty()) throw TokenizerProblem(fmt::format("the token {} is an empty text", id));
  if (id < 0 || id > largest_id)
    throw TokenizerProblem(fmt::format("the token {} has the id {}, which is not within 0 … {}",
                                       shown(spelling), id, largest_id));
  if (auto [at, fresh] = ids.emplace(spelling, id); !fresh && at->second != id)
    throw TokenizerProblem(
        fmt::format("the token {} has two ids, {} and {}", shown(spelling), at->second, id));
  if (std::size_t(id) >= spellings.size()) spellings.resize(std::size_t(id) + 1);
  std::string& own = spellings[std::size_t(id)];
  if (!own.empty() && own != spelling)
    throw TokenizerProblem(
        fmt::format("the tokens {} and {} have the same id, {}", shown(own), shown(spelling), id));
  own = spelling;
}

std::optional<std::int32_t> Vocabulary::find(const std::string& spelling) const {
  auto found = ids.find(spelling);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

Merge Vocabulary::merge(const std::string& left, const std::string& right,
                        std::string_view where) const {
  auto id = [&](const std::string& spelling) {
    if (auto found = find(spelling)) return *found;
    throw TokenizerProblem(
        fmt::format("{} names {}, which the vocabulary does not have", where, shown(spelling)));
  };
  return {id(left), id(right), id(left + right)};
}

Merge Vocabulary::merge(std::string_view line, std::string_view where) const {
  const std::size_t blank = line.find(' ');
  if (blank == line.npos || blank == 0 || blank + 1 == line.size() ||
      line.find(' ', blank + 1) != line.npos)
    throw TokenizerProblem(fmt::format(
        "{} is {}; two tokens with a blank between them are expected", where, shown(line)));
  return merge(std::string(line.substr(0, blank)), std::string(line.substr(blank + 1)), where);
}

void require_different(const std::vector<Merge>& merges) {
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::size_t k = 0; k < merges.size(); ++k)
    if (!seen.insert({merges[k].left, merges[k].right}).second)
      throw TokenizerProblem(fmt::format("merge {} is there twice", k + 1));
}

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  static const std::array<int, 324> bytes = bytes_of_code_points();
  std::string result;
  while (!spelling.empty()) {
    const std::size_t size = well_formed(spelling);
    if (size == 0) return std::nullopt;
    const std::uint32_t code = code_point(spelling.data(), size);
    if (code >= bytes.size() || bytes[code] < 0) return std::nullopt;
    result += char(bytes[code]);
    spelling.remove_prefix(size);
  }
  return result;
}

std::string spelling_of_bytes(std::string_view text) {
  static const std::array<std::string, 256> spellings = [] {
    std::array<std::string, 256> all;
    const std::array<int, 324> bytes = bytes_of_code_points();
    for (std::size_t code = 0; code < bytes.size(); ++code)
      if (bytes[code] >= 0)
        all[std::size_t(bytes[code])] =
            code < 0x80 ? std::string(1, char(code))
                        : std::string{char(0xc0 | code >> 6), char(0x80 | (code & 63))};
    return all;
  }();
  std::string result;
  for (char byte : text) result += spellings[static_cast<unsigned char>(byte)];
  return result;
}

}  // namespace sinter::detail
