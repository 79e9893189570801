// Whether a policy's options are what it says they may be.
#pragma once
#include <boost/hana/accessors.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <type_traits>

#include "sinter/recipe/concepts.hpp"
#include "sinter/recipe/diagnose.hpp"
#include "sinter/recipe/range.hpp"

namespace sinter {

/// Whether an option of type T is a number, and so may have a range.
template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Calls visit(name, value) for each option that is a number.
template <class Options>
constexpr void for_each_number(const Options& options, auto visit) {
  if constexpr (boost::hana::Struct<Options>::value)
    boost::hana::for_each(boost::hana::accessors<Options>(), [&](auto accessor) {
      const auto& field = boost::hana::second(accessor)(options);
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (is_number<Field>)
        visit(std::string_view(boost::hana::first(accessor).c_str()), double(field));
    });
}

/// The range of a policy's option; nullptr if it may be any number.
template <class P>
constexpr const Range* range_of(std::string_view option) {
  if constexpr (requires { P::ranges; })
    for (const Range& range : P::ranges)
      if (range.option() == option) return &range;
  return nullptr;
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
  int stray = -1;    // number of a range whose name is that of no numeric option, or -1
  int outside = -1;  // number of the first range that does not hold, or -1
  double value = 0;  // of the option that is outside it
  Contradiction contradiction{};

  constexpr OptionMistakes() {
    if constexpr (requires { P::ranges; }) {
      for (int k = 0; k < int(P::ranges.size()); ++k) {
        bool found = false;
        for_each_number(P::options, [&](std::string_view name, double number) {
          if (name != P::ranges[k].option()) return;
          found = true;
          if (outside >= 0 || P::ranges[k].holds(number)) return;
          outside = k;
          value = number;
        });
        if (!found) stray = k;
      }
    }
    if constexpr (HasOptions<P>)
      if (stray < 0 && outside < 0) contradiction = contradiction_of<P>(P::options);
  }
  constexpr bool any() const { return stray >= 0 || outside >= 0 || contradiction; }
};
template <class P>
inline constexpr OptionMistakes<P> option_mistakes{};

/// Whether the options in a policy's type are what it says they may be. Where not, one compile
/// error says so.
template <class P>
[[nodiscard]] constexpr bool options_are_legal() {
  constexpr const auto& mistakes = option_mistakes<P>;
  if constexpr (mistakes.stray >= 0) {
    constexpr std::string_view name = P::ranges[mistakes.stray].option();
    (void)&a_range_is_of_no_option<P, Text<name.size() + 1>(name)>;
  } else if constexpr (mistakes.outside >= 0) {
    constexpr Range range = P::ranges[mistakes.outside];
    constexpr std::string_view name = range.option();
    constexpr std::size_t size = range.text().view().size();
    constexpr Text<size + 1> allowed(range.text().view());
    (void)&an_option_is_out_of_range<P, Text<name.size() + 1>(name), mistakes.value, allowed>;
  } else if constexpr (mistakes.contradiction) {
    constexpr std::string_view what = mistakes.contradiction.what, fix = mistakes.contradiction.fix;
    (void)&two_options_contradict<P, Text<what.size() + 1>(what), Text<fix.size() + 1>(fix)>;
  }
  return !mistakes.any();
}

}  // namespace sinter
