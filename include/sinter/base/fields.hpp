// SPDX-License-Identifier: Apache-2.0
// The fields of options and of run states: each is listed once, in its aggregate.
#pragma once
#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <type_traits>

#include "sinter/base/range.hpp"

namespace sinter::detail {

/// True if a field of type T is a number, and so has a range.
template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// The description of one field in a list of fields.
struct Field {
  std::string_view name;       ///< the member's name
  Range range{};               ///< the values that a number may have
  bool is_adjustable = false;  ///< true if a flag may set it

  /// Adds a lower bound that is valid to the range of a number, which is always finite.
  constexpr Field at_least(std::int64_t bound) const { return with(range.at_least(bound)); }
  /// Adds a lower bound that is not valid.
  constexpr Field above(std::int64_t bound) const { return with(range.above(bound)); }
  /// Adds an upper bound that is valid.
  constexpr Field at_most(std::int64_t bound) const { return with(range.at_most(bound)); }
  /// Adds an upper bound that is not valid.
  constexpr Field below(std::int64_t bound) const { return with(range.below(bound)); }
  /// Lets a flag set the option before the trainer is made. Options without it are fixed in the
  /// recipe's type, most of them because they change code or the layout of memory.
  constexpr Field adjustable() const { return {name, range, true}; }

 private:
  constexpr Field with(Range to) const { return {name, to, is_adjustable}; }
};

/// An aggregate that lists its fields.
template <class S>
concept HasFields = requires { S::list_fields(); };
/// The array of Fields that the aggregate S lists.
template <HasFields S>
inline constexpr auto fields_of = S::list_fields();

}  // namespace sinter::detail

namespace boost::hana {

/// Makes an aggregate that lists its fields a Struct of Boost.Hana.
template <class S>
struct accessors_impl<S, when<sinter::detail::HasFields<S>>> {
  static constexpr auto apply() { return S::list_accessors(); }
};

}  // namespace boost::hana

/// Lists the fields of an aggregate, each with its description (Field). It stands inside the
/// aggregate, after the fields. Flags, printed lines and manifests have the fields in this order.
///   struct ClipOptions {
///     double max = 1;
///     bool by_layer = false;
///     SINTER_FIELDS((max).above(0).adjustable(), (by_layer))
///   };
/// requires  at most 64 fields
#define SINTER_FIELDS(...)                                                           \
  template <class = void>                                                            \
  static constexpr auto list_fields() {                                              \
    return ::std::array{SINTER_FOR_EACH(SINTER_FIELD, __VA_ARGS__)};                 \
  }                                                                                  \
  template <class = void>                                                            \
  static constexpr auto list_accessors() {                                           \
    return ::boost::hana::make_tuple(SINTER_FOR_EACH(SINTER_ACCESSOR, __VA_ARGS__)); \
  }

// Both lists are templates: only the policies of a recipe pay for theirs when it compiles.
// SINTER_FIELD turns `(lr).at_least(0)` into `Field{"lr"}.at_least(0)`. SINTER_ACCESSOR turns it
// into `lr, .at_least(0)` and uses the first of the two. An accessor for a name that is no field
// cannot be called with the aggregate, which is how options are checked (option_checks.hpp).
#define SINTER_FIELD(said) SINTER_FIELD_OF said
#define SINTER_FIELD_OF(name) \
  ::sinter::detail::Field { #name }
#define SINTER_ACCESSOR(said) SINTER_ACCESSOR_OF(SINTER_NAME said)
#define SINTER_NAME(name) name,
#define SINTER_ACCESSOR_OF(...) SINTER_ACCESSOR_OF_FIRST(__VA_ARGS__)
#define SINTER_ACCESSOR_OF_FIRST(name, ...)          \
  ::boost::hana::make_pair(BOOST_HANA_STRING(#name), \
                           [](auto&& fields) -> decltype((fields.name)) { return fields.name; })

// macro(first), macro(second), …: each rescan of EXPAND takes one step.
#define SINTER_FOR_EACH(macro, ...) SINTER_EXPAND(SINTER_FOR_FIRST(macro, __VA_ARGS__))
#define SINTER_FOR_FIRST(macro, first, ...) \
  macro(first) __VA_OPT__(, SINTER_FOR_REST SINTER_PARENTHESES(macro, __VA_ARGS__))
#define SINTER_FOR_REST() SINTER_FOR_FIRST
#define SINTER_PARENTHESES ()
#define SINTER_EXPAND(...) \
  SINTER_EXPAND_16(SINTER_EXPAND_16(SINTER_EXPAND_16(SINTER_EXPAND_16(__VA_ARGS__))))
#define SINTER_EXPAND_16(...) \
  SINTER_EXPAND_4(SINTER_EXPAND_4(SINTER_EXPAND_4(SINTER_EXPAND_4(__VA_ARGS__))))
#define SINTER_EXPAND_4(...) \
  SINTER_EXPAND_1(SINTER_EXPAND_1(SINTER_EXPAND_1(SINTER_EXPAND_1(__VA_ARGS__))))
#define SINTER_EXPAND_1(...) __VA_ARGS__
