// SPDX-License-Identifier: Apache-2.0
// Low-rank adaptation (Hu et al. 2021), as PEFT has it.
#pragma once
#include <string>

#include "sinter/layer/lora.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Lora, which trains adapters in place of weights.
struct lora {
  static constexpr std::string_view name = "lora";
};
}  // namespace slot

/// Names of the layers that get an adapter; * stands for any characters. A layer's name is that of its
/// parameters, as `describe` lists them, up to the last dot.
template <detail::Text... Names>
struct Targets {
  /// The names, as they are written.
  static constexpr std::array<const char*, sizeof...(Names)> names{Names.text...};
};
/// Names of layers that Lora trains whole, or their prefixes up to a dot, such as a new head.
template <detail::Text... Names>
struct ModulesToSave {
  /// The names, as they are written.
  static constexpr std::array<const char*, sizeof...(Names)> names{Names.text...};
};

namespace detail {

template <class P>
inline constexpr bool is_targets = false;
template <Text... Names>
inline constexpr bool is_targets<Targets<Names...>> = true;
template <class P>
inline constexpr bool is_modules_to_save = false;
template <Text... Names>
inline constexpr bool is_modules_to_save<ModulesToSave<Names...>> = true;

/// The names in a list of them, or none if P is no such list.
template <class P>
constexpr auto names_in() {
  if constexpr (is_targets<P> || is_modules_to_save<P>) {
    return P::names;
  } else {
    return std::array<const char*, 0>{};
  }
}

template <class... Policies>
constexpr bool freezes(PolicyList<Policies...>) {
  return (std::is_same_v<typename Policies::slot, slot::freeze> || ...);
}
template <class Which, class Whole>
SINTER_RULE(
    LoraIsMadeOfNames, (is_targets<Which> && is_modules_to_save<Whole>),
    "Lora: it is made of options, targets and perhaps modules to save. What: Which and Whole, "
    "in this error, stand in their places. Why: these say which layers get adapters, and which "
    "are trained whole. Fix: as in Lora<{.rank = 8}, Targets<\"*.c_attn\">, "
    "ModulesToSave<\"score\">>.");
template <class Which>
SINTER_RULE(
    LoraHasTargets, (!is_targets<Which> || names_in<Which>().size() > 0),
    "Lora: no target is named. Why: no layer would get an adapter. Fix: name the layers, as "
    "in Targets<\"*.c_attn\">; those that PEFT takes are \"*.c_attn\" for GPT-2, "
    "\"*.q_proj\", \"*.v_proj\" for Llama, \"*.query\", \"*.value\" for Bert.");
SINTER_RULE(LoraFreezesAll, !freezes(typename R::all{}),
            "Lora: the recipe has Freeze, too. Why: with Lora everything stays as it is but "
            "adapters and what ModulesToSave names. Fix: leave Freeze out.");
SINTER_MODEL_RULE(
    LoraReadsWeightsInPlace, !model.fetches_weights(),
    "Lora: a policy of the recipe fetches weights for each use (Zero of stage 3, or Offload of "
    "weights). Why: these keep what is trained elsewhere, and Lora trains so little that nothing "
    "is saved. Fix: stage 2, or leave the policy out.");

}  // namespace detail

/// Trains adapters of linear layers in place of their weights:
///   Lora<{.rank = 8, .alpha = 16}, Targets<"*.q_proj", "*.v_proj">>
/// Each targeted layer adds s B(A(dropout(x))) to its result, with s = alpha / rank. Only A and B are
/// trained, and what ModulesToSave names; all else has no gradient and no state. Names that match
/// nothing, or a target that is no Linear, do not compile.
template <LoraOptions O, class Which = Targets<>, class Whole = ModulesToSave<>>
struct Lora {
  using slot = slot::lora;
  using Options = LoraOptions;
  using rules = RuleList<detail::LoraIsMadeOfNames<Which, Whole>, detail::LoraHasTargets<Which>,
                         detail::LoraFreezesAll>;
  using model_rules = RuleList<detail::LoraReadsWeightsInPlace>;
  static constexpr Options options = O;

  /// What the tracer and the planner ask for (hook::HasAdapter).
  struct adapter {
    static constexpr auto targets = detail::names_in<Which>();  ///< layers with an adapter
    static constexpr auto saved = detail::names_in<Whole>();    ///< layers that are trained whole
    /// The layer L with an adapter.
    template <class L>
    using Of = detail::LoraOf<L, O>;
  };

  /// The names, separated by commas.
  static std::string text() {
    std::string all;
    for (const char* name : adapter::targets) all += (all.empty() ? "" : ", ") + std::string(name);
    for (const char* name : adapter::saved) all += std::string(", whole: ") + name;
    return all;
  }
};

}  // namespace sinter
