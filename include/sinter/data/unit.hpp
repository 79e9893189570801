// SPDX-License-Identifier: Apache-2.0
// The unit in which data are counted, and the figures of its loss.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// A number that is printed beside the mean loss.
struct Figure {
  std::string_view name{};              ///< such as "bits per byte"
  double (*of)(double loss) = nullptr;  ///< computes it; nullptr if there is no such number

  explicit operator bool() const { return of != nullptr; }  ///< True if there is a figure.
  /// Its key in JSON: the name with '_' for spaces.
  std::string key() const;
};

namespace detail {
/// Converts a loss from nats to bits: nats / ln 2.
double bits(double nats);
/// Returns e^nats, the number of equally likely choices that have this loss.
double perplexity(double nats);
/// Perplexity as a figure of `eval`.
inline constexpr Figure perplexity_figure{"perplexity", perplexity};
/// Returns a number with separated thousands, such as "12,345,678".
std::string thousands(std::int64_t number);
}  // namespace detail

/// What one prediction is of, in words, and the meaning of its loss.
struct DataUnit {
  std::string_view one = "row", many = "rows";  ///< the names of one and of several
  std::string_view loss{};  ///< the unit of the loss, such as "nats"; empty if it has none
  Figure headline{};        ///< printed beside the loss in the last lines of train, and in eval
  std::span<const Figure> figures{};  ///< printed in eval only

  /// Returns a number with the unit, such as "1 row" or "12,345 rows".
  std::string count(std::int64_t number) const;
};

/// The unit of rows of numbers. The model defines their loss, so it has no name and no figures.
inline constexpr DataUnit row_unit{};
/// The unit of tokens of a vocabulary. Their loss is the cross-entropy in nats; `eval` also prints
/// bits per token and the perplexity.
inline constexpr DataUnit token_unit{"token",
                                     "tokens",
                                     "nats",
                                     {"bits per token", detail::bits},
                                     std::span(&detail::perplexity_figure, 1)};
/// The unit of bytes that are tokens. All models of a text can be compared by its bits per byte.
inline constexpr DataUnit byte_unit{"byte",
                                    "bytes",
                                    "nats",
                                    {"bits per byte", detail::bits},
                                    std::span(&detail::perplexity_figure, 1)};
/// The unit of sequences with a class each. Their loss is the cross-entropy in nats.
inline constexpr DataUnit sequence_unit{"sequence", "sequences", "nats"};

}  // namespace sinter
