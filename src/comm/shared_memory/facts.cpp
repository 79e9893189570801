// SPDX-License-Identifier: Apache-2.0
#include "comm/shared_memory/facts.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sinter/error.hpp"

namespace sinter::shared_memory {
namespace {

constexpr std::size_t most_told = 8;  // differences

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

/// "seed is "42" in rank 0 and "43" in rank 1", or "seed is "42" in rank 0 alone".
std::string told(const std::string& name, const std::string* value, int rank,
                 const std::string* other_value, int other) {
  const std::string in = " in rank " + std::to_string(rank);
  const std::string in_other = " in rank " + std::to_string(other);
  if (!other_value) return name + " is " + shown(*value, 0) + in + " alone";
  if (!value) return name + " is " + shown(*other_value, 0) + in_other + " alone";
  const auto at = std::size_t(std::ranges::mismatch(*value, *other_value).in1 - value->begin());
  return name + " is " + shown(*value, at) + in + " and " + shown(*other_value, at) + in_other;
}

}  // namespace

Descriptor memory_of(const std::vector<Fact>& facts) {
  std::string all;
  for (const Fact& fact : facts) {
    append(all, fact.name);
    append(all, fact.value);
  }
  Descriptor memory(memfd_create("sinter facts", MFD_CLOEXEC));
  bool fine = memory.get() >= 0;
  for (std::size_t done = 0; fine && done < all.size();) {
    const ssize_t more = write(memory.get(), all.data() + done, all.size() - done);
    fine = more > 0 || (more < 0 && errno == EINTR);
    done += std::size_t(std::max<ssize_t>(more, 0));
  }
  if (!fine)
    throw Error("Sinter: the system gives the ranks no " + std::to_string(all.size()) +
                " bytes of memory for what they compare: " + std::strerror(errno) + ".");
  return memory;
}

std::optional<std::vector<Fact>> facts_in(const Descriptor& memory) {
  struct stat status{};
  if (memory.get() < 0 || fstat(memory.get(), &status) != 0) return std::nullopt;
  std::string all(std::size_t(status.st_size), '\0');
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t more = pread(memory.get(), all.data() + done, all.size() - done, off_t(done));
    if (more == 0 || (more < 0 && errno != EINTR)) return std::nullopt;
    done += std::size_t(std::max<ssize_t>(more, 0));
  }
  std::vector<Fact> facts;
  for (std::string_view rest = all; !rest.empty();) {
    Fact& fact = facts.emplace_back();
    if (!take(rest, fact.name) || !take(rest, fact.value)) return std::nullopt;
  }
  return facts;
}

std::string difference(const Witness& one, const Witness& other) {
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
  std::string text = rank_name(one.rank, one.process) + " and " +
                     rank_name(other.rank, other.process) + " are not of the same run: ";
  for (std::size_t k = 0; k < std::min(texts.size(), most_told); ++k)
    text += (k ? "; " : "") + texts[k];
  std::string same;
  for (std::size_t k = 0; k < std::min(names.size(), most_told); ++k)
    same += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  if (names.size() > most_told) {
    const std::string more = std::to_string(names.size() - most_told) + " more";
    text += "; and so on, in " + more;
    same += " and " + more;
  }
  return text + ". Start all ranks with the same " + same + ".";
}

}  // namespace sinter::shared_memory
