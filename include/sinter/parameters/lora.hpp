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

template <LoraOptions O>
SINTER_RULE(LoraBaseIsRead,
            (O.base != LoraBase::bf16 || std::is_same_v<typename R::precision::compute, BFloat16>),
            "Lora: its base is in bf16, and layers read another type. Why: bf16 is kept as it is "
            "read, and products have operands of one type. Fix: the precision Bf16, or "
            ".base = LoraBase::int8, which each precision reads.");
template <LoraOptions O>
SINTER_RULE(LoraInt8OnHost, (O.base != LoraBase::int8 || R::device::on_host),
            "Lora: its base is in int8, and the recipe's device is a card. Why: what makes numbers "
            "of int8 is written for the processor alone. Fix: .base = LoraBase::bf16 with Bf16, or "
            "train on Cpu.");
template <LoraOptions O>
SINTER_MODEL_RULE(
    LoraInt8IsWhole, (O.base != LoraBase::int8 || model.shards == 1),
    "Lora: its base is in int8, and a policy divides state among ranks (Zero). Why: "
    "ranks then write checkpoints together, and blocks of int8 are not cut. Fix: Ddp, "
    "or .base = LoraBase::bf16 with Bf16; adapters have little state to divide.");

}  // namespace detail

/// Trains adapters of linear layers in place of their weights:
///   Lora<{.rank = 8, .alpha = 16}, Targets<"*.q_proj", "*.v_proj">>
/// Each targeted layer adds s B(A(dropout(x))) to its result, with s = alpha / rank. Only A and B are
/// trained, and what ModulesToSave names; all else has no gradient and no state. Names that match
/// nothing, or a target that is no Linear, do not compile.
///
/// `base` says how all else is kept. LoraBase::bf16 takes 2 bytes a number, and has the bits of
/// LoraBase::full, which takes 6 with Bf16. With LoraBase::int8 a weight of a Linear takes 34 / 32 bytes,
/// if its input's width is a multiple of 32. It is rounded when it is loaded. So training, evaluation,
/// checkpoints and exports have the rounded values.
template <LoraOptions O, class Which = Targets<>, class Whole = ModulesToSave<>>
struct Lora {
  using slot = slot::lora;
  using Options = LoraOptions;
  using rules =
      RuleList<detail::LoraIsMadeOfNames<Which, Whole>, detail::LoraHasTargets<Which>,
               detail::LoraFreezesAll, detail::LoraBaseIsRead<O>, detail::LoraInt8OnHost<O>>;
  using model_rules = RuleList<detail::LoraReadsWeightsInPlace, detail::LoraInt8IsWhole<O>>;
  static constexpr Options options = O;

  /// What the tracer and the planner ask for (hook::HasAdapter).
  struct adapter {
    static constexpr auto targets = detail::names_in<Which>();  ///< layers with an adapter
    static constexpr auto saved = detail::names_in<Whole>();    ///< layers that are trained whole
    /// True if what is not trained has no master weights.
    static constexpr bool without_masters = O.base != LoraBase::full;
    /// True if some of it is to be in int8.
    static constexpr bool in_int8 = O.base == LoraBase::int8;
    /// The layer L with an adapter. ElementBytes: size of the compute type.
    template <class L, int ElementBytes>
    using Of = detail::LoraOf<L, O, ElementBytes>;
    /// The layer that stands for L where it is not trained.
    template <class L, int ElementBytes>
    using Frozen = typename detail::FrozenOf<L, O.base, ElementBytes>::type;
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
