// SPDX-License-Identifier: Apache-2.0
// Checks of a policy's options against their ranges, when a recipe compiles.
#pragma once
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include "sinter/base/said.hpp"
#include "sinter/graph/diagnose.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter::detail {

/// Calls visit(field, value) for each field of an aggregate that is a Struct of Boost.Hana. If the
/// aggregate has no SINTER_FIELDS, each Field has only a name.
constexpr void for_each_field(auto& aggregate, auto visit) {
  using Aggregate = std::remove_cvref_t<decltype(aggregate)>;
  int number = 0;
  boost::hana::for_each(boost::hana::accessors<Aggregate>(), [&](auto accessor) {
    auto& value = boost::hana::second(accessor)(aggregate);
    if constexpr (HasFields<Aggregate>) {
      visit(fields_of<Aggregate>[number++], value);
    } else {
      visit(Field{boost::hana::first(accessor).c_str()}, value);
    }
  });
}

/// True if the fields of options or of a run state are listed, which puts them into flags and
/// checkpoints, or if there are no fields.
template <class Aggregate>
concept Listed = std::is_empty_v<Aggregate> || boost::hana::Struct<Aggregate>::value;

template <class Aggregate, class... Names, class... Accessors>
constexpr int stray_name(const boost::hana::tuple<boost::hana::pair<Names, Accessors>...>&) {
  int number = 0, first = -1;
  ((first = first < 0 && !std::is_invocable_v<Accessors, Aggregate&> ? number : first, ++number),
   ...);
  return first;
}

/// Index of the first name in an aggregate's list that is none of its fields, or -1.
template <class Aggregate>
constexpr int stray_name() {
  if constexpr (HasFields<Aggregate>) {
    return stray_name<Aggregate>(Aggregate::list_accessors());
  } else {
    return -1;
  }
}

/// The mistakes in the options in a policy's type.
template <class P>
struct OptionMistakes {
  int stray = -1;                 ///< index of a field that has bounds but is not a number, or -1
  int outside = -1;               ///< index of the first field that is outside its range, or -1
  double value = 0;               ///< value of the field that is outside its range
  Contradiction contradiction{};  ///< the contradiction between options, if any

  constexpr OptionMistakes() {
    if constexpr (HasOptions<P>) {
      if constexpr (HasFields<std::remove_const_t<decltype(P::options)>>) check_fields();
      if (stray < 0 && outside < 0) contradiction = hook::contradiction<P>(P::options);
    }
  }
  /// True if there is a mistake.
  constexpr bool any() const { return stray >= 0 || outside >= 0 || contradiction; }

 private:
  constexpr void check_fields() {
    int number = 0;
    for_each_field(P::options, [&]<class Value>(const Field& field, const Value& now) {
      if constexpr (is_number<ValueIn<Value>>) {
        if (outside < 0 && is_said(now) && !field.range.holds(double(value_in(now)))) {
          outside = number;
          value = double(value_in(now));
        }
      } else if (field.range.bounded()) {
        stray = number;
      }
      ++number;
    });
  }
};
/// The mistakes in the options of the policy P, computed once.
template <class P>
inline constexpr OptionMistakes<P> option_mistakes{};

/// True if each field of Aggregate, the options or the run state of the policy P, is listed;
/// otherwise also makes one compile error.
template <class P, class Aggregate>
[[nodiscard]] constexpr bool is_listed() {
  constexpr int stray = stray_name<Aggregate>();
  if constexpr (!Listed<Aggregate>) {
    (void)&fields_are_not_listed<P, Aggregate>;
  } else if constexpr (stray >= 0) {
    constexpr std::string_view name = fields_of<Aggregate>[stray].name;
    (void)&a_listed_name_is_no_field<P, Aggregate, Text<name.size() + 1>(name)>;
  }
  return Listed<Aggregate> && stray < 0;
}
/// True if is_listed() holds for the options and for the run state of P, where it has them.
template <class P>
[[nodiscard]] constexpr bool all_is_listed() {
  if constexpr (HasOptions<P>)
    if constexpr (!is_listed<P, std::remove_const_t<decltype(P::options)>>()) return false;
  if constexpr (HasState<P>) return is_listed<P, typename P::State>();
  return true;
}

/// True if the options in a policy's type are in their ranges and do not contradict each other;
/// otherwise also makes one compile error.
template <class P>
[[nodiscard]] constexpr bool options_are_legal() {
  constexpr const auto& mistakes = option_mistakes<P>;
  if constexpr (mistakes.stray >= 0) {
    constexpr std::string_view name = fields_of<typename P::Options>[mistakes.stray].name;
    (void)&a_range_is_of_no_number<P, Text<name.size() + 1>(name)>;
  } else if constexpr (mistakes.outside >= 0) {
    constexpr Field field = fields_of<typename P::Options>[mistakes.outside];
    constexpr std::size_t size = field.range.text().view().size();
    constexpr Text<size + 1> allowed(field.range.text().view());
    (void)&an_option_is_out_of_range<P, Text<field.name.size() + 1>(field.name), mistakes.value,
                                     allowed>;
  } else if constexpr (mistakes.contradiction) {
    constexpr std::string_view what = mistakes.contradiction.what, fix = mistakes.contradiction.fix;
    (void)&two_options_contradict<P, Text<what.size() + 1>(what), Text<fix.size() + 1>(fix)>;
  }
  return !mistakes.any();
}

}  // namespace sinter::detail
