// SPDX-License-Identifier: Apache-2.0
// The slots of a recipe.
#pragma once
#include <concepts>
#include <string_view>
#include <type_traits>

namespace sinter {

/// A slot is a type with a name, which flags and printed plans use. By default a slot is decisive:
/// its policy and fixed options give the numbers in a checkpoint their meaning, so a recipe resumes
/// only from checkpoints with the same ones. Other slots have `decisive = false`.
namespace slot {
/// The slot of models: what is computed (ModelPolicy).
struct model {
  static constexpr std::string_view name = "model";
};
/// The slot of data: what a model learns from (DataPolicy).
struct data {
  static constexpr std::string_view name = "data";
};
/// The slot of precisions: which type each number has (PrecisionPolicy).
struct precision {
  static constexpr std::string_view name = "precision";
};
/// The slot of optimizers, which update parameters (OptimizerPolicy).
struct optimizer {
  static constexpr std::string_view name = "optimizer";
};
/// The slot of learning-rate schedules (SchedulePolicy).
struct schedule {
  static constexpr std::string_view name = "schedule";
  static constexpr bool decisive = false;
};
/// The slot of gradient clipping (ClippingPolicy).
struct clipping {
  static constexpr std::string_view name = "clipping";
  static constexpr bool decisive = false;
};
/// The slot of batch sizes (BatchPolicy).
struct batch {
  static constexpr std::string_view name = "batch";
  static constexpr bool decisive = false;
};
/// The slot of activation checkpointing: what is kept for backward (MemoryPolicy).
struct memory {
  static constexpr std::string_view name = "memory";
  static constexpr bool decisive = false;
};
/// The slot of parallel training: how ranks share the work (ParallelPolicy).
struct parallel {
  static constexpr std::string_view name = "parallel";
  static constexpr bool decisive = false;
};
/// The slot of devices: where a step is computed (DevicePolicy).
struct device {
  static constexpr std::string_view name = "device";
  static constexpr bool decisive = false;
};
/// The slot of recovery: what a run does when a step goes wrong (recovery/).
struct recovery {
  static constexpr std::string_view name = "recovery";
  static constexpr bool decisive = false;
};
}  // namespace slot

namespace detail {
/// True if a recipe resumes from a checkpoint only with the same policy in this slot.
template <class Slot>
constexpr bool is_decisive() {
  if constexpr (requires { Slot::decisive; }) {
    return Slot::decisive;
  } else {
    return true;
  }
}

/// True if P is a policy for this slot.
template <class P, class Slot>
concept Policy = std::is_empty_v<P> && std::same_as<typename P::slot, Slot>;

template <class Slot>
concept NamedSlot = requires {
  { Slot::name } -> std::convertible_to<std::string_view>;
};

template <class P>
concept HasOptions = requires { P::options; };
template <class P>
concept HasState = requires { typename P::State; };

/// The run-time options of a policy, or its run state.
struct OptionsOf {
  const void* slot;     ///< tag_of the policy's slot
  const void* options;  ///< the policy's Options, or State
};
}  // namespace detail

}  // namespace sinter
