// SPDX-License-Identifier: Apache-2.0
// JSON from files of any origin.
#pragma once
#include <concepts>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace sinter::detail {

/// Thrown for a text that is not JSON, or not as expected. what() is fit for a message.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Objects and arrays may be nested so deep. (Copying and printing JSON takes stack for each level.)
inline constexpr int deepest_json = 100;

/// What becomes of a key that an object has twice: its last value counts, or the text is refused.
enum class DoubledKeys { last_counts, refused };

/// throws    JsonError if it is not JSON, nested deeper than `deepest`, or has doubled keys that are
///           refused
nlohmann::ordered_json parse_json(std::string_view text, int deepest = deepest_json,
                                  DoubledKeys doubled = DoubledKeys::last_counts);

/// Parses a text with very many keys, which are sorted in the result.
/// throws    JsonError also if an object has a key twice
nlohmann::json parse_large_json(std::string_view text, int deepest = deepest_json);

[[noreturn]] void throw_no_integer(const nlohmann::ordered_json& value, std::string_view what);

/// An integer of `what`; get<T>() would cut off what T cannot hold.
/// throws    JsonError if the value is no integer, or T cannot hold it
template <std::integral T>
T integer_of(const nlohmann::ordered_json& value, std::string_view what) {
  auto within = [](auto number) { return std::in_range<T>(number); };
  if (value.is_number_unsigned() && within(value.get<std::uint64_t>())) return value.get<T>();
  if (value.is_number_integer() && !value.is_number_unsigned() && within(value.get<std::int64_t>()))
    return value.get<T>();
  throw_no_integer(value, what);
}

}  // namespace sinter::detail
