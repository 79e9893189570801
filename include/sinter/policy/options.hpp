// SPDX-License-Identifier: Apache-2.0
// The options and run states of policies as data: one generic loop makes flags, printed recipes and
// manifests of them.
#pragma once
#include <concepts>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sinter/policy/claims.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/option_checks.hpp"

namespace sinter {

/// One option of a policy, or one number of its run state.
struct Option {
  std::string_view slot, name;  ///< of the policy, and of the field
  bool adjustable;  ///< before the trainer is made; otherwise it is frozen in the recipe's type
  /// Where a number or a switch lies, or a word: the name of an enumerator.
  std::variant<int*, std::int64_t*, double*, bool*, std::string_view> value;
  const Range* range = nullptr;  ///< what a number may be, or nullptr if it may be anything
  std::string_view why_fixed{};  ///< why it is not adjustable, if that is said
  /// Whether it had the value that its Options begin with when it was listed.
  bool is_default = false;

  /// The name of the flag, such as "optimizer.lr".
  std::string dotted() const { return std::string(slot) + "." + std::string(name); }
  /// Returns visit(value), where value is a number, a bool or a std::string_view.
  auto read(auto visit) const {
    return std::visit(
        [&](const auto& held) {
          if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(held)>>) {
            return visit(std::as_const(*held));
          } else {
            return visit(held);
          }
        },
        value);
  }
};
/// The value as people write it.
std::string text_of(const Option& option);

/// What a PolicySet may hold: the run-time copy of a policy's options, which starts as they are in
/// its type, or its run state.
template <class P>
  requires HasOptions<P>
struct OptionsEntry {
  typename P::Options value = P::options;
};
template <class P>
  requires requires { typename P::State; }
struct StateEntry {
  typename P::State value{};
};

namespace detail {

template <class P>
std::string_view why_fixed(std::string_view name) {
  if constexpr (hook::HasWhyFixed<P>) return P::why_fixed(name);
  return "";
}
/// Whether Aggregate is the policy's Options and not its State, whose fields may have the same names.
template <class P, class Aggregate>
concept OptionsAre = std::is_same_v<typename P::Options, Aggregate>;
/// Whether a field of the options is as it is in options that nobody has set.
template <class Aggregate, class Value>
bool is_default(const Aggregate& options, const Value& field) {
  if constexpr (std::default_initializable<Aggregate>) {
    static const Aggregate defaults{};
    const auto offset =
        reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&options);
    Value value;
    std::memcpy(&value, reinterpret_cast<const char*>(&defaults) + offset, sizeof value);
    return value == field;
  } else {
    return false;
  }
}
/// Adds the fields of the options or of the run state of the policy P.
template <class P, class Aggregate>
void add_fields(Aggregate& aggregate, std::vector<Option>& list) {
  if constexpr (boost::hana::Struct<Aggregate>::value)
    for_each_field(aggregate, [&]<class Value>(const Field& field, Value& value) {
      Option option{P::slot::name, field.name, false, {}};
      if constexpr (OptionsAre<P, Aggregate>) {
        option.why_fixed = why_fixed<P>(field.name);
        option.adjustable = field.is_adjustable && option.why_fixed.empty();
        option.is_default = is_default(aggregate, value);
        if constexpr (is_number<Value> && HasFields<Aggregate>) option.range = &field.range;
      }
      if constexpr (std::is_enum_v<Value>) {
        option.value = name_of(value);
      } else {
        option.value = &value;
      }
      list.push_back(option);
    });
}

template <template <class> class Entry>
struct WithEntry {
  template <class P>
  static constexpr bool has = requires { typename Entry<P>; };
  template <class P>
  struct One : std::bool_constant<has<P>> {};
};

}  // namespace detail

template <template <class> class Entry, class Policies>
class PolicySet;

/// An entry for each of some policies.
template <template <class> class Entry, class... P>
class PolicySet<Entry, Claimants<P...>> : Entry<P>... {
 public:
  /// The value of a policy's entry.
  /// requires  it has one
  template <class One>
  auto& get() {
    return static_cast<Entry<One>&>(*this).value;
  }
  /// Calls function(policy, value) for each entry that the function takes.
  void visit(auto function) {
    (
        [&] {
          if constexpr (detail::Takes<decltype(function), P, decltype(Entry<P>::value)&>)
            function(P{}, Entry<P>::value);
        }(),
        ...);
  }
  /// Where the values lie, by slot, for instructions.
  std::vector<OptionsOf> pointers() {
    return {OptionsOf{&tag_of<typename P::slot>, &static_cast<Entry<P>&>(*this).value}...};
  }
  /// The values field by field, for people and files. They point into this.
  std::vector<Option> list() {
    std::vector<Option> found;
    (detail::add_fields<P>(Entry<P>::value, found), ...);
    return found;
  }
};

namespace detail {
template <template <class> class Entry, class... All>
auto set_of(Claimants<All...>)
    -> PolicySet<Entry, ClaimantsThat<WithEntry<Entry>::template One, All...>>;
}  // namespace detail

/// The run-time options of all policies of the recipe R.
template <class R>
using OptionSet = decltype(detail::set_of<OptionsEntry>(typename R::all{}));
/// The run state of all policies of the recipe R.
template <class R>
using StateSet = decltype(detail::set_of<StateEntry>(typename R::all{}));

}  // namespace sinter
