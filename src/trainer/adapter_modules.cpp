// SPDX-License-Identifier: Apache-2.0
#include "trainer/adapter_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "sinter/files/io.hpp"

namespace sinter::detail {

namespace {

using Json = nlohmann::ordered_json;

/// An entry that is not what it must be. what() is a line of the error.
struct WrongEntry : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A line of the error: an entry with its value, and what is wrong.
std::string line_of(const Json& config, const std::string& entry, const std::string& what) {
  return fmt::format("\n  {} is {}, {}", entry, printable(config.at(entry).dump(), 60), what);
}

/// True if an entry says something.
bool is_said(const Json& config, const std::string& entry) {
  const Json value = config.value(entry, Json());
  return !value.is_null() && !(value.is_structured() && value.empty()) && value != "";
}

/// The numbers or texts of an entry, which may be a list of them or one; none if it says nothing.
template <class T>
std::vector<T> list_of(const Json& config, const std::string& entry, const char* kinds) {
  if (!is_said(config, entry)) return {};
  const Json& value = config.at(entry);
  const Json list = value.is_array() ? value : Json::array({value});
  const auto fits = [](const Json& one) {
    return std::is_same_v<T, std::string> ? one.is_string() : one.is_number_integer();
  };
  if (!std::ranges::all_of(list, fits))
    throw WrongEntry(line_of(config, entry, fmt::format("and must be {}", kinds)));
  return list.get<std::vector<T>>();
}

/// A pattern of an entry.
std::regex pattern_of(const Json& config, const std::string& entry, const std::string& pattern) {
  auto syntax = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  syntax |= std::regex_constants::__polynomial;  // a pattern from elsewhere takes no endless time
#endif
  try {
    if (pattern.size() <= 1000) return std::regex(pattern, syntax);
  } catch (const std::regex_error&) {
  }
  throw WrongEntry(line_of(config, entry, "which is no pattern that Sinter can read: list names"));
}

/// The names of an entry: a list of them or of their ends, or one pattern.
struct LayerNames {
  std::vector<std::string> list{};
  std::optional<std::regex> pattern{};

  LayerNames(const Json& config, const std::string& entry)
      : list(list_of<std::string>(config, entry, "a pattern, or a list of names")) {
    if (is_said(config, entry) && config.at(entry).is_string())
      pattern = pattern_of(config, entry, list.front());
  }
  bool has(const std::string& name) const {
    if (pattern) return std::regex_match(name, *pattern);
    return lists(name) || std::ranges::any_of(list, [&](const std::string& end) {
             return name.ends_with("." + end);
           });
  }
  /// True if the whole name is in the list.
  bool lists(const std::string& name) const {
    return !pattern && std::ranges::find(list, name) != list.end();
  }
};

/// The layers that have an adapter by the entries.
struct Choice {
  LayerNames targets, excluded;
  std::vector<std::int64_t> numbers;
  bool has_patterns;                   // of what stands before a number
  std::vector<std::regex> numbered{};  // these, or PEFT's own; the last group is the number

  explicit Choice(const Json& config)
      : targets(config, "target_modules"),
        excluded(config, "exclude_modules"),
        numbers(
            list_of<std::int64_t>(config, "layers_to_transform", "a number, or a list of them")),
        has_patterns(is_said(config, "layers_pattern")) {
    if (!numbers.empty() && targets.pattern)
      throw WrongEntry(line_of(config, "layers_to_transform",
                               "and goes with a list in target_modules, not with a pattern"));
    if (has_patterns && numbers.empty())
      throw WrongEntry(line_of(config, "layers_pattern", "and goes with layers_to_transform"));
    const char* entry = "layers_pattern";
    for (const std::string& before :
         list_of<std::string>(config, entry, "a name, or a list of them"))
      numbered.push_back(pattern_of(config, entry, "(?:^|.*?\\.)" + before + "\\.(\\d+)\\..*"));
    if (!has_patterns) numbered.emplace_back(".*?\\.[^.]*\\.(\\d+)\\..*");
  }

  /// The entry by which a layer has no adapter; empty if it has one.
  std::string left_out_by(const std::string& name) const {
    if (excluded.has(name)) return "exclude_modules";
    if (!targets.has(name)) return "target_modules";
    if (numbers.empty() || targets.lists(name)) return "";
    for (const std::regex& pattern : numbered) {
      std::smatch match;
      if (!std::regex_match(name, match, pattern)) continue;
      const std::int64_t number = std::stoll("0" + match[match.size() - 1].str());
      const bool is_chosen = std::ranges::find(numbers, number) != numbers.end();
      return is_chosen ? "" : "layers_to_transform";
    }
    return has_patterns ? "layers_pattern" : "layers_to_transform";
  }
};

/// How fan_in_fan_out differs from the layers that have adapters.
std::string wrong_storage(const Json& config, std::span<const AdapterLayer> layers) {
  const char* entry = "fan_in_fan_out";
  if (!is_said(config, entry)) return "";
  const Json& value = config.at(entry);
  if (!value.is_boolean()) return line_of(config, entry, "and must be true or false");
  bool transposed = false, plain = false;
  for (const AdapterLayer& layer : layers)
    if (layer.adapted) (layer.fan_in_fan_out ? transposed : plain) = true;
  if (value == true ? transposed || !plain : plain || !transposed) return "";
  return line_of(config, entry,
                 fmt::format("and the weights of these layers are stored as {}",
                             transposed ? "in × out" : "out × in"));
}

}  // namespace

std::string wrong_layers(const Json& config, std::span<const AdapterLayer> layers) try {
  const Choice choice(config);
  const bool chooses =
      is_said(config, "target_modules");  // else PEFT takes what is usual for a model
  std::string lines;
  std::vector<std::string> said;
  for (const AdapterLayer& layer : layers) {
    const std::string by = chooses ? choice.left_out_by(layer.name) : "";
    if (by.empty() == layer.adapted || (!chooses && !layer.adapted)) continue;
    const std::string entry = by.empty() ? "target_modules" : by;
    if (std::ranges::find(said, entry) != said.end()) continue;  // the first layer is enough
    said.push_back(entry);
    lines += line_of(config, entry,
                     by.empty() ? fmt::format("with {}, which has no adapter here", layer.name)
                                : fmt::format("which gives {} none: it has one here", layer.name));
  }
  return lines + wrong_storage(config, layers);
} catch (const WrongEntry& wrong) {
  return wrong.what();
}

}  // namespace sinter::detail
