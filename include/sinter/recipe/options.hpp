// SPDX-License-Identifier: Apache-2.0
// The options and run states of policies as data: one generic loop makes flags, printed recipes and
// manifests of them.
#pragma once
#include <concepts>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sinter/recipe/claims.hpp"
#include "sinter/recipe/concepts.hpp"
#include "sinter/recipe/option_checks.hpp"

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

/// An entry for each policy of the recipe R that has one.
template <class R, template <class> class Entry>
class PolicySet {
  template <class P>
  static constexpr bool has = requires { typename Entry<P>; };
  template <class P>
  static auto entry_of() {
    if constexpr (has<P>) {
      return std::tuple<Entry<P>>{};
    } else {
      return std::tuple<>{};
    }
  }
  template <class... All>
  static auto entries_of(Claimants<All...>) {
    return std::tuple_cat(entry_of<All>()...);
  }

 public:
  /// The value of P's entry.
  /// requires  P has one
  template <class P>
  auto& get() {
    return std::get<Entry<P>>(entries).value;
  }
  /// Calls function(policy, value) for each entry.
  void visit(auto function) { visit_all(typename R::all{}, function); }
  /// Where the values lie, by slot, for instructions.
  std::vector<OptionsOf> pointers() {
    std::vector<OptionsOf> list;
    visit([&]<class P>(P, auto& value) { list.push_back({&tag_of<typename P::slot>, &value}); });
    return list;
  }
  /// The values field by field, for people and files. They point into this.
  std::vector<Option> list() {
    std::vector<Option> found;
    visit([&]<class P>(P, auto& value) {
      if constexpr (boost::hana::Struct<std::remove_reference_t<decltype(value)>>::value)
        add<P>(value, found);
    });
    return found;
  }

 private:
  template <class... All>
  void visit_all(Claimants<All...>, auto function) {
    (
        [&] {
          if constexpr (has<All>) function(All{}, get<All>());
        }(),
        ...);
  }

  template <class P>
  static std::string_view why_fixed(std::string_view name) {
    if constexpr (hook::HasWhyFixed<P>) return P::why_fixed(name);
    return "";
  }
  /// Whether Aggregate is the policy's Options and not its State, whose fields may have the same
  /// names.
  template <class P, class Aggregate>
  static constexpr bool is_options = std::is_same_v<typename P::Options, Aggregate>;
  /// Whether a field of the options is as it is in options that nobody has set.
  template <class Aggregate, class Value>
  static bool is_default(const Aggregate& options, const Value& field) {
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
  template <class P, class Aggregate>
  static void add(Aggregate& aggregate, std::vector<Option>& list) {
    for_each_field(aggregate, [&]<class Value>(const Field& field, Value& value) {
      Option option{P::slot::name, field.name, false, {}};
      if constexpr (requires { requires is_options<P, Aggregate>; }) {
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

  decltype(entries_of(typename R::all{})) entries;
};

/// The run-time options of all policies of the recipe R.
template <class R>
using OptionSet = PolicySet<R, OptionsEntry>;
/// The run state of all policies of the recipe R.
template <class R>
using StateSet = PolicySet<R, StateEntry>;

}  // namespace sinter
