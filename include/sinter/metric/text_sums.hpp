// SPDX-License-Identifier: Apache-2.0
// What metrics of texts see and keep.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sinter {

/// A text that a model has written for an example.
struct WrittenReply {
  std::string_view text;                    ///< what the model wrote
  std::span<const std::string> references;  ///< texts of which each would be right; at least one
  std::int64_t tokens = 0;  ///< number of tokens written, the one that ended the text included
};

/// Where the reply of an example ranks among those of other examples, by what the model says of each.
struct RankedReply {
  /// Number of candidates that stand before it: likelier ones, and of those as likely the earlier
  /// examples'.
  int rank = 0;
  int candidates = 0;  ///< number of candidates, this reply included; equal ones count once
};

/// What a metric of texts keeps of replies. The sums of two parts, added, are those of the whole.
struct TextSums {
  std::vector<double> sums;                  ///< counts and other numbers that add exactly
  std::unordered_set<std::uint64_t> seen{};  ///< what has come at least once, each below 2^53

  /// Keeps `count` sums, which are 0.
  explicit TextSums(int count = 0) : sums(std::size_t(count)) {}
  /// Adds what another part has kept.
  /// requires  both have the same number of sums
  TextSums& operator+=(const TextSums& more);
};

/// Adds a number in [0, 1] to two sums, as multiples of 2^-25 and of 2^-50. Both stay exact for up
/// to 2^28 numbers, so the order does not matter. The number is rounded to a multiple of 2^-50.
void add_exactly(double number, std::span<double, 2> sums);
/// The sum of the numbers that add_exactly() has added.
double exact_sum(std::span<const double, 2> sums);

}  // namespace sinter
