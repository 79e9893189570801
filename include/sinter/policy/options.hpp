// SPDX-License-Identifier: Apache-2.0
// The options and run states of policies as data, from which one generic loop makes flags, printed
// recipes and manifests.
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

namespace sinter::detail {

/// One option of a policy, or one number of its run state.
struct Option {
  std::string_view slot, name;  ///< names of the policy's slot and of the field
  bool adjustable;  ///< true if it may change before the trainer is made; else fixed in the type
  /// Address of the number or switch, or the name of an enumerator.
  std::variant<int*, std::int64_t*, double*, bool*, std::string_view> value;
  const Range* range = nullptr;  ///< values that a number may have; nullptr for any
  std::string_view why_fixed{};  ///< the policy's reason why it is not adjustable, or ""
  /// True if it had the default of its Options when it was listed.
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
/// The option's value, as a user would write it.
std::string text_of(const Option& option);

/// An entry of a PolicySet: the run-time copy of a policy's options, at first equal to those in its
/// type.
template <class P>
  requires HasOptions<P>
struct OptionsEntry {
  typename P::Options value = P::options;  ///< the options that flags may change
};
/// An entry of a PolicySet: the run state of a policy.
template <class P>
  requires HasState<P>
struct StateEntry {
  typename P::State value{};  ///< the state that the run changes
};

/// True if Aggregate is the policy's Options, and not its State, which may have fields of the same
/// names.
template <class P, class Aggregate>
concept OptionsAre = std::is_same_v<typename P::Options, Aggregate>;
/// True if a field of the options has its default value.
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
/// Adds the fields of the options or of the run state of the policy P, but none that is left unsaid.
template <class P, class Aggregate>
void add_fields(Aggregate& aggregate, std::vector<Option>& list) {
  if constexpr (boost::hana::Struct<Aggregate>::value)
    for_each_field(aggregate, [&]<class Value>(const Field& field, Value& held) {
      if (!is_said(held)) return;
      Option option{P::slot::name, field.name, false, {}};
      if constexpr (OptionsAre<P, Aggregate>) {
        option.why_fixed = hook::why_fixed<P>(field.name);
        option.adjustable = field.is_adjustable && option.why_fixed.empty();
        option.is_default = is_default(aggregate, held);
        if constexpr (is_number<ValueIn<Value>> && HasFields<Aggregate>)
          option.range = &field.range;
      }
      if constexpr (std::is_enum_v<ValueIn<Value>>) {
        option.value = name_of(value_in(held));
      } else {
        option.value = &value_in(held);
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

template <template <class> class Entry, class Policies>
class PolicySet;

/// One entry for each policy of a list.
template <template <class> class Entry, class... P>
class PolicySet<Entry, PolicyList<P...>> : Entry<P>... {
 public:
  /// The value of a policy's entry.
  /// requires  the policy One has an entry
  template <class One>
  auto& get() {
    return static_cast<Entry<One>&>(*this).value;
  }
  template <class One>
  const auto& get() const {
    return static_cast<const Entry<One>&>(*this).value;
  }
  /// Calls function(policy, value) for each entry that the function takes.
  void visit(auto function) {
    (
        [&] {
          if constexpr (Takes<decltype(function), P, decltype(Entry<P>::value)&>)
            function(P{}, Entry<P>::value);
        }(),
        ...);
  }
  /// Addresses of the values with their slots, by which instructions find them.
  std::vector<OptionsOf> pointers() {
    return {OptionsOf{&tag_of<typename P::slot>, &static_cast<Entry<P>&>(*this).value}...};
  }
  /// The values field by field, for printing and for files. They point into this object.
  std::vector<Option> list() {
    std::vector<Option> found;
    (add_fields<P>(Entry<P>::value, found), ...);
    return found;
  }
};

template <template <class> class Entry, class... All>
auto set_of(PolicyList<All...>)
    -> PolicySet<Entry, PoliciesThat<WithEntry<Entry>::template One, All...>>;

/// The run-time options of all policies of the recipe R.
template <class R>
using OptionSet = decltype(set_of<OptionsEntry>(typename R::all{}));
/// The run state of all policies of the recipe R.
template <class R>
using StateSet = decltype(set_of<StateEntry>(typename R::all{}));

}  // namespace sinter::detail
