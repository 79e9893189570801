// SPDX-License-Identifier: Apache-2.0
// Examples whose tokens say which example they are of.
#pragma once
#include <charconv>
#include <random>
#include <string>
#include <vector>

#include "sinter/data/examples.hpp"

namespace sinter::detail::testing {

/// Turns "7:3" into three tokens 7, any other text into none.
inline Tokenizer numbered_tokenizer() {
  Tokenizer tokenizer;
  tokenizer.vocabulary = 1 << 20;
  tokenizer.encode = [](std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return std::vector<std::int32_t>();
    auto number = [](std::string_view digits) {
      int value = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return value;
    };
    return std::vector<std::int32_t>(std::size_t(number(text.substr(colon + 1))),
                                     number(text.substr(0, colon)));
  };
  return tokenizer;
}

/// Adds an example whose label, with its end, has `label` >= 2 rows.
inline void add_numbered(ExampleSet& set, int context, int label) {
  const std::string number = std::to_string(set.size()) + ":";
  set.add_pair(number + std::to_string(context), number + std::to_string(label - 1));
}

/// The examples of a batch, by their numbers.
inline std::vector<std::int64_t> numbers_of(const HostBatch& batch) {
  std::vector<std::int64_t> numbers;
  for (int s = 0; s < batch.sequences(); ++s) {
    int row = batch.starts[std::size_t(s)];
    while (batch.ids[1][std::size_t(row)] < 0) ++row;
    numbers.push_back(batch.ids[1][std::size_t(row)]);
  }
  return numbers;
}

/// A way in which lengths are spread, chosen by a number.
inline ExampleSet numbered_examples(int count, std::mt19937_64& random) {
  const ExampleLimits limits{.context = 40, .label = 24};
  ExampleSet set(numbered_tokenizer(), limits);
  const int kind = int(random() % 4);
  auto below = [&](int bound) { return int(random() % std::uint64_t(bound)); };
  for (int k = 0; k < count; ++k) {
    if (kind == 0) add_numbered(set, 5, 5);                                // all alike
    if (kind == 1) add_numbered(set, below(60), 2 + below(30));            // some cut
    if (kind == 2) add_numbered(set, below(10) ? 2 : 40, 2);               // a few long ones
    if (kind == 3) add_numbered(set, 1 << below(6), 2 + (1 << below(5)));  // many short ones
  }
  return set;
}

}  // namespace sinter::detail::testing
