// SPDX-License-Identifier: Apache-2.0
// What a generator knows of a row.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sinter/generate/generator.hpp"

namespace sinter {

/// A text, or a hypothesis of one, of which the caches hold `length` rows.
struct GeneratorCore::Row {
  int text = 0, slot = 0, length = 0;
  int kept = 0;                          // rows that are kept for the text
  int other_slot = 0, other_length = 0;  // of the encoder's rows, which hypotheses share
  std::vector<int> free;                 // slots of the text that no hypothesis writes to
  std::vector<std::int32_t> tokens;      // all of them
  std::vector<std::int32_t> other;       // what the encoder is to read
  std::span<const std::byte> encoded{};  // what it would give, if that is known
  std::vector<std::int32_t> sources;     // the slot of each row in the cache
};

/// Rows of a text that are read at once, and what its encoder reads before.
struct GeneratorCore::Part {
  Row* row;
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> other{};
  std::span<const std::byte> encoded{};  // of `other`
};

}  // namespace sinter
