// Whether a policy's options are what it says they may be.
#pragma once
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>

#include "sinter/recipe/concepts.hpp"
#include "sinter/recipe/diagnose.hpp"

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
      visit(Field{boost::hana::first(accessor).c_str(), false}, value);
    }
  });
}

/// What is wrong with a policy's options together, if anything is.
template <class P>
constexpr Contradiction contradiction_of(const auto& options) {
  if constexpr (requires { P::contradiction(options); }) {
    return P::contradiction(options);
  } else {
    return {};
  }
}

/// The mistakes in a policy's options as they are in its type.
template <class P>
struct OptionMistakes {
  int stray = -1;    // number of a field that has bounds and is no number, or -1
  int outside = -1;  // number of the first field whose range does not hold, or -1
  double value = 0;  // of the field that is outside its range
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
template <class P>
inline constexpr OptionMistakes<P> option_mistakes{};

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
