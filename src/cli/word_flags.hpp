// SPDX-License-Identifier: Apache-2.0
// Flags whose values are words or sizes: what they set.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/nearest.hpp"
#include "cli/flags.hpp"
#include "cli/numbers.hpp"

namespace sinter::detail::cli {

/// A number of passes or examples, whose products fit into 64 bits.
inline std::int64_t data_count(const Given& given) {
  constexpr double most = 1e12;
  return number_of<std::int64_t>(given.flag, given.texts.front(),
                                 Range().at_least(1).at_most(most));
}

inline void set_order(Arguments& a, const Given& given) {
  static constexpr std::array<std::string_view, 2> words{"shuffled", "sequential"};
  const std::string& word = given.texts.front();
  if (word != words[0] && word != words[1])
    throw UsageError(
        fmt::format("--order takes shuffled or sequential, not '{}'; the nearest is "
                    "'{}'.",
                    word, nearest(word, words)));
  a.order = word == words[0] ? Order::shuffled : Order::sequential;
}

inline void set_special_tokens(Arguments& a, const Given& given) {
  const std::string& word = given.texts.front();
  if (word != "on" && word != "off")
    throw UsageError(fmt::format("--special-tokens takes on or off, not '{}'.", word));
  a.special_tokens = word == "on";
}

inline void set_quantization(Arguments& a, const Given& given) {
  const std::string& word = given.texts.front();
  if (word != "int8" && word != "none")
    throw UsageError(fmt::format("--quantize takes int8 or none, not '{}'.", word));
  a.quantizes = word == "int8";
}

inline void set_resume(Arguments& a, const Given& given) {
  const std::string& word = given.texts.front();
  if (!word.empty() && word != "auto")
    throw UsageError(fmt::format("--resume takes auto, or nothing, not '{}'.", word));
  a.resume = true;
  a.resume_or_begin = !word.empty();
}

inline void set_shard_size(Arguments& a, const Given& given) {
  std::string size = given.texts.front();
  try {
    size = CLI::AsSizeValue(true)(size).empty()
               ? size
               : "";  // the conversion replaces the text by a number of bytes
  } catch (const CLI::Error&) {
    size.clear();
  }
  if (size.empty())
    throw UsageError(
        fmt::format("--max-shard-size takes a number of bytes, or one with a unit, "
                    "such as 500MB or 5GB, not '{}'.",
                    given.texts.front()));
  a.shard_bytes = number_of<std::uint64_t>(given.flag, size, 1);
}

inline void set_dtype(Arguments& a, const Given& given) {
  static constexpr std::array<std::string_view, 4> words{"float32", "bfloat16", "float16",
                                                         "float64"};
  static constexpr std::array types{Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64};
  const std::string& word = given.texts.front();
  const auto found = std::ranges::find(words, word);
  if (found == words.end())
    throw UsageError(
        fmt::format("--dtype takes float32, bfloat16, float16 or float64, not '{}'; the nearest is "
                    "'{}'.",
                    word, nearest(word, words)));
  a.dtype = types[std::size_t(found - words.begin())];
}

}  // namespace sinter::detail::cli
