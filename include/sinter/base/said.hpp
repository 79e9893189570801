// SPDX-License-Identifier: Apache-2.0
// Values that may be left unsaid, and may stand in a type.
#pragma once
#include <type_traits>
#include <utility>

namespace sinter::detail {

/// A number or a word that may be left unsaid. As std::optional, but a type may be made from it.
template <class T>
struct Said {
  T value{};             ///< of no meaning if nothing is said
  bool is_said = false;  ///< true if there is a value

  constexpr Said() = default;
  /// Says a value.
  constexpr Said(T said) : value(said), is_said(true) {}

  constexpr explicit operator bool() const { return is_said; }
  /// requires  a value is said
  constexpr const T& operator*() const { return value; }
  constexpr T value_or(T other) const { return is_said ? value : other; }
  friend constexpr bool operator==(const Said&, const Said&) = default;
};

/// True if a field holds a value: any does that may not be left unsaid.
template <class T>
constexpr bool is_said(const T&) {
  return true;
}
template <class T>
constexpr bool is_said(const Said<T>& field) {
  return field.is_said;
}
/// The value that a field holds.
/// requires  is_said(field)
template <class T>
constexpr T& value_in(T& field) {
  return field;
}
template <class T>
constexpr T& value_in(Said<T>& field) {
  return field.value;
}
template <class T>
constexpr const T& value_in(const Said<T>& field) {
  return field.value;
}
/// The type of the value that a field of type T holds.
template <class T>
using ValueIn = std::remove_cvref_t<decltype(value_in(std::declval<T&>()))>;

}  // namespace sinter::detail
