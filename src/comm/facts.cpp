// SPDX-License-Identifier: Apache-2.0
#include "comm/facts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/shared_memory/segment.hpp"  // max_ranks
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

constexpr std::size_t max_told = 8;  // differences

/// Each text after its length.
void append(std::string& all, const std::string& text) {
  const std::uint64_t size = text.size();
  all.append(reinterpret_cast<const char*>(&size), sizeof size);
  all += text;
}
bool take(std::string_view& rest, std::string& text) {
  std::uint64_t size = 0;
  if (rest.size() < sizeof size) return false;
  std::memcpy(&size, rest.data(), sizeof size);
  rest.remove_prefix(sizeof size);
  if (rest.size() < size) return false;
  text = rest.substr(0, size);
  rest.remove_prefix(size);
  return true;
}

const std::string* find(const std::vector<Fact>& facts, const std::string& name) {
  const auto fact = std::ranges::find(facts, name, &Fact::name);
  return fact == facts.end() ? nullptr : &fact->value;
}

/// A value in quotes, of which a long one is shown from shortly before `at`.
std::string shown(const std::string& value, std::size_t at) {
  constexpr std::size_t before = 24, most = 80;
  const auto is_inside_letter = [&](std::size_t k) {  // of UTF-8
    return k < value.size() && (static_cast<unsigned char>(value[k]) & 0xC0) == 0x80;
  };
  std::size_t begin = 0, end = value.size();
  if (value.size() > most) {
    begin = at > before ? std::min(at - before, value.size()) : 0;
    end = std::min(begin + most, value.size());
    while (begin > 0 && is_inside_letter(begin)) --begin;
    while (is_inside_letter(end)) ++end;
  }
  std::string text = value.substr(begin, end - begin);
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  return (begin > 0 ? "\"…" : "\"") + text + (end < value.size() ? "…\"" : "\"");
}

/// Returns "seed is "42" in rank 0 and "43" in rank 1", or "seed is "42" in rank 0 alone".
std::string told(const std::string& name, const std::string* value, int rank,
                 const std::string* other_value, int other) {
  const std::string in = " in rank " + std::to_string(rank);
  const std::string in_other = " in rank " + std::to_string(other);
  if (!other_value) return name + " is " + shown(*value, 0) + in + " alone";
  if (!value) return name + " is " + shown(*other_value, 0) + in_other + " alone";
  const auto at = std::size_t(std::ranges::mismatch(*value, *other_value).in1 - value->begin());
  return name + " is " + shown(*value, at) + in + " and " + shown(*other_value, at) + in_other;
}

std::string difference_of_two(const Witness& one, const Witness& other) {
  std::vector<std::string> names, texts;
  const auto compare = [&](const std::string& name) {
    const std::string* value = find(one.facts, name);
    const std::string* other_value = find(other.facts, name);
    if (value && other_value && *value == *other_value) return;
    names.push_back(name);
    texts.push_back(told(name, value, one.rank, other_value, other.rank));
  };
  for (const Fact& fact : one.facts) compare(fact.name);
  for (const Fact& fact : other.facts)
    if (!find(one.facts, fact.name)) compare(fact.name);
  if (names.empty()) return "";
  std::string text = one.name + " and " + other.name + " are not of the same run: ";
  for (std::size_t k = 0; k < std::min(texts.size(), max_told); ++k)
    text += (k ? "; " : "") + texts[k];
  std::string same;
  for (std::size_t k = 0; k < std::min(names.size(), max_told); ++k)
    same += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  if (names.size() > max_told) {
    const std::string more = std::to_string(names.size() - max_told) + " more";
    text += "; and so on, in " + more;
    same += " and " + more;
  }
  return text + ". Start all ranks with the same " + same + ".";
}

}  // namespace

void check_place(const World& world) {
  if (world.ranks < 1 || world.ranks > shared_memory::max_ranks || world.rank < 0 ||
      world.rank >= world.ranks)
    throw ArgumentError("rank " + std::to_string(world.rank) + " of " +
                        std::to_string(world.ranks) +
                        " ranks cannot be. They are counted from 0, and there are 1 to " +
                        std::to_string(shared_memory::max_ranks) + ".");
  if (world.ranks == 1) return;
  constexpr std::size_t longest_id = 80;
  if (world.id.empty() || world.id.size() > longest_id)
    throw ArgumentError("the id of a world has " + std::to_string(world.id.size()) +
                        " bytes; there must be 1 to " + std::to_string(longest_id) +
                        ". shared_memory_world_id() makes one.");
  for (auto fact = world.facts.begin(); fact != world.facts.end(); ++fact)
    if (std::find_if(world.facts.begin(), fact,
                     [&](const Fact& other) { return other.name == fact->name; }) != fact)
      throw ArgumentError("two facts of a world are named \"" + fact->name +
                          "\". Give each a name of its own.");
}

std::string bytes_of(const std::vector<Fact>& facts) {
  std::string all;
  for (const Fact& fact : facts) {
    append(all, fact.name);
    append(all, fact.value);
  }
  return all;
}

std::optional<std::vector<Fact>> facts_of(std::string_view bytes) {
  std::vector<Fact> facts;
  while (!bytes.empty()) {
    Fact& fact = facts.emplace_back();
    if (!take(bytes, fact.name) || !take(bytes, fact.value)) return std::nullopt;
  }
  return facts;
}

std::string difference(std::span<const Witness> ranks) {
  std::string problem, others;
  for (const Witness& other : ranks.subspan(1)) {
    const std::string different = difference_of_two(ranks.front(), other);
    if (different.empty()) continue;
    if (problem.empty()) {
      problem = different;
    } else {
      others += (others.empty() ? "" : ", ") + std::to_string(other.rank);
    }
  }
  return others.empty() ? problem : problem + " From rank 0 also differ: " + others + ".";
}

}  // namespace sinter::detail
