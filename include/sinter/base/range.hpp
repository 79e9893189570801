// SPDX-License-Identifier: Apache-2.0
// Valid values of a policy's options, of each by itself and of several together.
#pragma once
#include <limits>

#include "sinter/base/text.hpp"

namespace sinter {

namespace detail {
/// The valid values of a number: finite, and within its bounds, if any, which are whole numbers.
///   Range().at_least(0).below(1)
class Range {
  struct Bound {
    std::int64_t at = 0;
    bool given = false, included = false;
  };
  Bound low, high;

 public:
  /// Adds a lower bound that is itself valid.
  constexpr Range at_least(std::int64_t bound) const { return with(&Range::low, bound, true); }
  /// Adds a lower bound that is itself not valid.
  constexpr Range above(std::int64_t bound) const { return with(&Range::low, bound, false); }
  /// Adds an upper bound that is itself valid.
  constexpr Range at_most(std::int64_t bound) const { return with(&Range::high, bound, true); }
  /// Adds an upper bound that is itself not valid.
  constexpr Range below(std::int64_t bound) const { return with(&Range::high, bound, false); }

  /// True if there is a bound.
  constexpr bool bounded() const { return low.given || high.given; }
  /// True if a number is finite and within the bounds.
  constexpr bool holds(double value) const {
    constexpr double largest = std::numeric_limits<double>::max();
    const double least = double(low.at), most = double(high.at);
    if (!(value >= -largest && value <= largest)) return false;  // NaN, too
    if (low.given && !(low.included ? value >= least : value > least)) return false;
    return !high.given || (high.included ? value <= most : value < most);
  }
  /// The bounds in words, such as "at least 0 and below 1"; empty if there are none.
  constexpr TextBuilder text() const {
    TextBuilder words;
    if (low.given) (words += low.included ? "at least " : "above ") += low.at;
    if (low.given && high.given) words += " and ";
    if (high.given) (words += high.included ? "at most " : "below ") += high.at;
    return words;
  }

 private:
  constexpr Range with(Bound Range::* bound, std::int64_t at, bool included) const {
    Range range = *this;
    range.*bound = {at, true, included};
    return range;
  }
};
}  // namespace detail

/// Options that contradict each other although each is within its range: what is wrong, and its
/// fix. Both are empty if nothing is wrong. Each has at most 33 characters, as clang 19 cuts longer
/// texts in an error (see Text).
struct Contradiction {
  std::string_view what{}, fix{};  ///< what is wrong, and how to mend it

  /// True if something is wrong.
  constexpr explicit operator bool() const { return !what.empty(); }
};

}  // namespace sinter
