// SPDX-License-Identifier: Apache-2.0
#include "files/json.hpp"

#include <fmt/format.h>

#include "sinter/files/io.hpp"

namespace sinter {
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

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, int deepest) {
  if (is_deeper(text, deepest))
    throw JsonError(fmt::format("it is nested deeper than {} objects and arrays", deepest));
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw JsonError(printable(error.what()));
  }
}

void throw_no_integer(const nlohmann::ordered_json& value, std::string_view what) {
  throw JsonError(fmt::format("{} is {}, which is no integer that it can be", what,
                              printable(value.dump(), 40)));
}

}  // namespace sinter
