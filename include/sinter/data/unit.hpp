// What data is counted in, and which figures its loss gives.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter {

/// A number that people read beside the mean loss: its name, as "bits per byte", and what it is of
/// the loss. In JSON its key is the name with '_' for spaces. Without a function there is none.
struct Figure {
  std::string_view name{};
  double (*of)(double loss) = nullptr;

  explicit operator bool() const { return of != nullptr; }
  std::string key() const;
};

/// A loss in nats, in bits: loss / ln 2.
double bits(double nats);
/// The number of equally likely choices that have this loss in nats: e^loss.
double perplexity(double nats);
inline constexpr Figure perplexity_figure{"perplexity", perplexity};

/// What one prediction is of, in words, and what its loss means.
struct DataUnit {
  std::string_view one = "row", many = "rows";
  std::string_view loss{};  // what the loss of one is measured in, as "nats"; or nothing
  Figure headline{};        // stands beside the loss in the last lines of train, and in eval
  std::span<const Figure> figures{};  // stand in eval only

  /// "1 row", "12,345 rows".
  std::string count(std::int64_t number) const;
};

/// Rows of numbers: the loss is what the model makes it.
inline constexpr DataUnit row_unit{};
/// Tokens of a vocabulary, with the cross-entropy as loss.
inline constexpr DataUnit token_unit{
    "token", "tokens", "nats", {"bits per token", bits}, std::span(&perplexity_figure, 1)};
/// The same for bytes, whose bits can be compared between all models of a text.
inline constexpr DataUnit byte_unit{
    "byte", "bytes", "nats", {"bits per byte", bits}, std::span(&perplexity_figure, 1)};

/// "12,345,678".
std::string thousands(std::int64_t number);

}  // namespace sinter
