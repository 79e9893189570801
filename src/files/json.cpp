// SPDX-License-Identifier: Apache-2.0
#include "files/json.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

bool is_deeper(std::string_view json, int deepest) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    char character = json[at];
    if (in_string) {
      if (character == '\\') ++at;
      in_string = character != '"';
    } else if (character == '"') {
      in_string = true;
    } else if (character == '{' || character == '[') {
      if (++depth > deepest) return true;
    } else if (character == '}' || character == ']') {
      --depth;
    }
  }
  return false;
}

[[noreturn]] void throw_deeper(int deepest) {
  throw JsonError(fmt::format("it is nested deeper than {} objects and arrays", deepest));
}

template <class Json>
Json parse(std::string_view text, DoubledKeys doubled, int deepest) {
  if (is_deeper(text, deepest)) throw_deeper(deepest);
  std::vector<std::unordered_set<std::string>> keys;  // of the objects that are open
  using Event = nlohmann::json::parse_event_t;
  const auto check = [&](int, Event event, Json& value) {
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event != Event::key) return true;
    const std::string& key = value.template get_ref<const std::string&>();
    if (!keys.back().insert(key).second)
      throw JsonError(fmt::format("it has the key '{}' twice in one object", printable(key, 60)));
    return true;
  };
  try {
    return doubled == DoubledKeys::refused ? Json::parse(text, check) : Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw JsonError(printable(error.what()));
  }
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, int deepest, DoubledKeys doubled) {
  return parse<nlohmann::ordered_json>(text, doubled, deepest);
}

nlohmann::json parse_large_json(std::string_view text, int deepest) {
  return parse<nlohmann::json>(text, DoubledKeys::refused, deepest);
}

void throw_no_integer(const nlohmann::ordered_json& value, std::string_view what) {
  throw JsonError(fmt::format("{} is {}, which is no integer that it can be", what,
                              printable(value.dump(), 40)));
}

}  // namespace sinter::detail
