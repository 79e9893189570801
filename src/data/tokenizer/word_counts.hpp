// SPDX-License-Identifier: Apache-2.0
// How often each piece of text comes in files.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "data/tokenizer/split.hpp"
#include "sinter/data/data_files.hpp"

namespace sinter::detail {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using WordCounts = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

/// Splits each line of the files, with its line break, as a text of its own.
/// throws    FileError, also if a file has changed since it was found
WordCounts count_words(const DataFiles& files, Pattern pattern, int threads,
                       const std::function<void(std::int64_t bytes)>& progress);

}  // namespace sinter::detail
