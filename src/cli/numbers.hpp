// SPDX-License-Identifier: Apache-2.0
// Reads numbers from the command line strictly: the whole word must be one.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "sinter/base/range.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {

/// A wrong command line; the exit code is 2.
struct UsageError : Error {
  using Error::Error;
};

/// Reads the number that follows a flag.
/// throws    UsageError that names the flag, unless `text` is a T within the range
template <class T>
T number_of(const std::string& flag, const std::string& text, const Range& range) {
  constexpr bool whole = std::is_integral_v<T>;
  T number{};
  auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool is_number = stopped == text.data() + text.size() && !text.empty();
  bool fits = error == std::errc{};
  if constexpr (!whole) fits = fits && std::isfinite(number);
  if (is_number && fits && range.holds(double(number))) return number;
  std::string what = whole ? "a whole number" : "a number";
  if (is_number && error == std::errc::result_out_of_range && text[0] != '-')
    throw UsageError(fmt::format("{} takes {} of at most {}, and {} is beyond it.", flag, what,
                                 std::numeric_limits<T>::max(), text));
  const TextBuilder bounds = range.text();
  std::string allowed(bounds.view());
  if (allowed.starts_with("at ")) allowed.insert(0, "of ");
  if (!allowed.empty()) what += " " + allowed;
  throw UsageError(fmt::format("{} takes {}, not '{}'.", flag, what, text));
}

/// Reads a number of at least `minimum`.
template <class T>
T number_of(const std::string& flag, const std::string& text, int minimum) {
  return number_of<T>(flag, text, Range().at_least(minimum));
}

}  // namespace sinter::detail::cli
