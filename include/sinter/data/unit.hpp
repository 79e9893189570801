// SPDX-License-Identifier: Apache-2.0
// What data is counted in, and which figures its loss gives.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// A number that people read beside the mean loss.
struct Figure {
  std::string_view name{};              ///< such as "bits per byte"
  double (*of)(double loss) = nullptr;  ///< computes it; nullptr if there is no such number

  explicit operator bool() const { return of != nullptr; }
  /// Its key in JSON: the name with '_' for spaces.
  std::string key() const;
};

/// Converts a loss from nats to bits: nats / ln 2.
double bits(double nats);
/// The number of equally likely choices that have this loss: e^nats.
double perplexity(double nats);
/// Perplexity as a figure of `eval`.
inline constexpr Figure perplexity_figure{"perplexity", perplexity};

/// Says in words what one prediction is of, and what its loss means.
struct DataUnit {
  std::string_view one = "row", many = "rows";  ///< what one of them is called, and several
  std::string_view loss{};  ///< what the loss is measured in, such as "nats"; empty if in nothing
  Figure headline{};        ///< printed beside the loss in the last lines of train, and in eval
  std::span<const Figure> figures{};  ///< printed in eval only

  /// A number of them, such as "1 row" or "12,345 rows".
  std::string count(std::int64_t number) const;
};

/// Rows of numbers, whose loss is what the model makes it.
inline constexpr DataUnit row_unit{};
/// Tokens of a vocabulary, with the cross-entropy as their loss.
inline constexpr DataUnit token_unit{
    "token", "tokens", "nats", {"bits per token", bits}, std::span(&perplexity_figure, 1)};
/// The same for bytes; bits per byte can be compared between all models of a text.
inline constexpr DataUnit byte_unit{
    "byte", "bytes", "nats", {"bits per byte", bits}, std::span(&perplexity_figure, 1)};

/// Sequences with a class each, and the cross-entropy as their loss.
inline constexpr DataUnit sequence_unit{"sequence", "sequences", "nats"};

/// A number with its thousands set apart, such as "12,345,678".
std::string thousands(std::int64_t number);

}  // namespace sinter
