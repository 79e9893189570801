// SPDX-License-Identifier: Apache-2.0
// Whether a policy's options are what it says they may be.
#pragma once
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include "sinter/graph/diagnose.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter {

/// Calls visit(field, value) for each field of an aggregate that Boost.Hana knows. If it does not
/// list its fields itself, a Field has a name and nothing else.
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

/// Whether options or a run state are listed, so that they are in flags and checkpoints; they are
/// if there are none.
template <class Aggregate>
concept Listed = std::is_empty_v<Aggregate> || boost::hana::Struct<Aggregate>::value;

namespace detail {
template <class Aggregate, class... Names, class... Accessors>
constexpr int stray_name(const boost::hana::tuple<boost::hana::pair<Names, Accessors>...>&) {
  int number = 0, first = -1;
  ((first = first < 0 && !std::is_invocable_v<Accessors, Aggregate&> ? number : first, ++number),
   ...);
  return first;
}
}  // namespace detail

/// The number of the first name in an aggregate's list that is no field of it, or -1.
template <class Aggregate>
constexpr int stray_name() {
  if constexpr (HasFields<Aggregate>) {
    return detail::stray_name<Aggregate>(Aggregate::list_accessors());
  } else {
    return -1;
  }
}

/// What is wrong with a policy's options together, if anything is.
template <class P>
constexpr Contradiction contradiction_of(const auto& options) {
  if constexpr (hook::HasContradiction<P>) {
    return P::contradiction(options);
  } else {
    return {};
  }
}

/// The mistakes in a policy's options as they are in its type.
template <class P>
struct OptionMistakes {
  int stray = -1;    ///< number of a field that has bounds and is no number, or -1
  int outside = -1;  ///< number of the first field whose range does not hold, or -1
  double value = 0;  ///< of the field that is outside its range
  Contradiction contradiction{};

  constexpr OptionMistakes() {
    if constexpr (HasOptions<P>) {
      if constexpr (HasFields<std::remove_const_t<decltype(P::options)>>) check_fields();
      if (stray < 0 && outside < 0) contradiction = contradiction_of<P>(P::options);
    }
  }
  constexpr bool any() const { return stray >= 0 || outside >= 0 || contradiction; }

 private:
  constexpr void check_fields() {
    int number = 0;
    for_each_field(P::options, [&]<class Value>(const Field& field, const Value& now) {
      if constexpr (is_number<Value>) {
        if (outside < 0 && !field.range.holds(double(now))) {
          outside = number;
          value = double(now);
        }
      } else if (field.range.bounded()) {
        stray = number;
      }
      ++number;
    });
  }
};
/// The mistakes of the policy P, computed once.
template <class P>
inline constexpr OptionMistakes<P> option_mistakes{};

/// Whether the options and the run state of a policy are listed, field by field. Where not, one
/// compile error says so.
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
/// The same of its options and of its run state, if it has them.
template <class P>
[[nodiscard]] constexpr bool all_is_listed() {
  if constexpr (HasOptions<P>)
    if constexpr (!is_listed<P, std::remove_const_t<decltype(P::options)>>()) return false;
  if constexpr (requires { typename P::State; }) return is_listed<P, typename P::State>();
  return true;
}

/// Whether the options in a policy's type are what it says they may be. Where not, one compile
/// error says so.
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

}  // namespace sinter
