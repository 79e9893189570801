// SPDX-License-Identifier: Apache-2.0
// The slots of a recipe, and what a policy for each of them must be.
//
// Every policy is an empty type that names its slot (`using slot = slot::…`). A policy may have
// options: a structural aggregate (`using Options = …; static constexpr Options options = …;`).
// The aggregate lists each field once, with its range and whether a flag sets it (SINTER_FIELDS,
// base/fields.hpp). The list makes the aggregate a Struct of Boost.Hana, from which flags and
// printed lines are made. An option that is not adjustable is fixed in the type, in most cases
// because it changes code or the layout of memory.
//
// A policy of any slot may also have hooks, which are optional members (policy/hooks.hpp). Some
// slots have hooks of their own (policy/slot_hooks.hpp).
// A policy with a slot of its own (any type, in any namespace) may be added to every recipe.
#pragma once
#include <concepts>
#include <string_view>

#include "sinter/base/fields.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/policy/slot_hooks.hpp"

namespace sinter {

/// A model: what is computed, as units of layers. It is traced once, when a recipe compiles.
///   trace(g)     declares the inputs (g.tokens, g.values, …) and the units of training, and ends
///                with g.result(loss)
///   predict(g)   (optional) declares a prediction, with units of the same names and parameters
///   predict_rows(g)  (optional, beside predict) declares a prediction at each position
template <class P>
concept ModelPolicy = detail::Policy<P, slot::model>;

/// The data a recipe learns from, as far as memory and rules depend on it. data/data_view.hpp has
/// the optional members with which a binary reads them.
///   context      maximum rows of a sequence
///   vocabulary   ids are in [0, vocabulary); 0 without ids
template <class P>
concept DataPolicy = detail::Policy<P, slot::data> && requires {
  { P::context } -> std::convertible_to<int>;
  { P::vocabulary } -> std::convertible_to<int>;
};

/// Chooses the C++ type of each kind of number.
///   compute         activations, and the weights that layers read
///   statistic       means, log-sum-exp, losses
///   gradient        gradients of parameters
///   master          master weights
///   accumulate      sums inside a layer
/// ensures   if compute is not master, a program casts the weights before it reads them
template <class P>
concept PrecisionPolicy = detail::Policy<P, slot::precision> && requires {
  sizeof(typename P::compute);
  sizeof(typename P::statistic);
  sizeof(typename P::gradient);
  sizeof(typename P::master);
  sizeof(typename P::accumulate);
};

namespace detail {
/// The type of the optimizer's state in the precision policy P.
template <class P>
struct StateTypeOf {
  using type = typename P::master;  ///< the type of the masters
};
/// StateTypeOf for a policy that states the type.
template <class P>
  requires hook::HasStateType<P>
struct StateTypeOf<P> {
  using type = typename P::state;  ///< the type that P states
};
}  // namespace detail
/// StateTypeOf as a type.
template <class P>
using StateOf = typename detail::StateTypeOf<P>::type;

/// Updates parameters from gradients that are reduced and final.
///   update(options, span)       advances the master weights of a ParameterSpan by one step;
///                                  ParameterSpan::decision unscales and clips the gradients
///   regions                        all the state that must be in checkpoints
///   learning_rate(options)         the rate before the schedule
///   learning_rate(options, step)   (optional) the rate before the schedule at a step, from 1
template <class P>
concept OptimizerPolicy =
    detail::Policy<P, slot::optimizer> && requires(const typename P::Options& o) {
      P::regions;
      { P::learning_rate(o) } -> std::convertible_to<double>;
    };

/// Schedules the learning rate: gives the factor of it at each step.
///   horizon(options)       (optional) the option that is its last step; 0 in it is the run's
///                          length
///   factor(options, step), or factor(options, state, step) if the schedule has a State
/// requires  step >= 1, counting applied steps
/// ensures   the factor is >= 0
template <class P>
concept SchedulePolicy =
    detail::Policy<P, slot::schedule> &&
    (requires(const typename P::Options& o, std::int64_t step) {
      { P::factor(o, step) } -> std::convertible_to<double>;
    } || requires(const typename P::Options& o, const typename P::State& s, std::int64_t step) {
      { P::factor(o, s, step) } -> std::convertible_to<double>;
    });

/// Clips gradients before the update, by their norm, their magnitudes, or not at all.
///   bound(options)   the maximum norm of all gradients together: beyond it, all are scaled down;
///                    infinity for no bound
/// ensures   the bound is above 0
template <class P>
concept ClippingPolicy =
    detail::Policy<P, slot::clipping> && requires(const typename P::Options& o) {
      { P::bound(o) } -> std::convertible_to<double>;
    };

/// Chooses how many sequences a step has, and how many of them are computed at once.
///   micro            sequences of a micro-batch, for which activations are planned
///   options.global   sequences of a step
template <class P>
concept BatchPolicy = detail::Policy<P, slot::batch> && requires {
  { P::micro } -> std::convertible_to<int>;
  { P::options.global } -> std::convertible_to<int>;
};

/// Chooses which layers backward recomputes, so that forward need not keep their results
/// (activation checkpointing).
///   recomputed_inside(layer)   true if such a layer is recomputed inside its unit's backward
///   Chosen, fits               (optional) choose another recipe to plan, see Budget
/// ensures   the step has the same bits as the plain program's
template <class P>
concept MemoryPolicy = detail::Policy<P, slot::memory> && requires(const detail::Layer& layer) {
  { P::recomputed_inside(layer) } -> std::same_as<bool>;
};

/// Shares training among ranks: how many there are, what they communicate, and when.
///   ranks(options)   the number of ranks
///   reduces          true if gradients must be summed over the ranks before the norm
/// ensures   the step is that of one rank on the whole global batch, to rounding
template <class P>
concept ParallelPolicy =
    detail::Policy<P, slot::parallel> && requires(const typename P::Options& o) {
      { P::reduces } -> std::convertible_to<bool>;
      { P::ranks(o) } -> std::convertible_to<int>;
    };

/// Chooses the device that computes steps, such as the CPU.
///   on_host         true if code on the host may touch the device's memory
///   open(options)   lets the calling thread compute on the device; throws Error if there is none.
///                   It calls the library of the device's kernels, so that a binary without it does
///                   not link
///   join(stream, world)   makes the Communicator of this process, where ranks are processes; see
///                   nccl_rank(), shared_memory_rank() and hosts_rank(). Recipes with ranks need it
///                   unless on_host
template <class P>
concept DevicePolicy = detail::Policy<P, slot::device> && requires(const typename P::Options& o) {
  { P::on_host } -> std::convertible_to<bool>;
  P::open(o);
};

/// Decides what a run does when a step goes wrong. Without such a policy, training stops.
///   recover(options, state, step)   returns the Reaction to the step; see policy/hooks.hpp
template <class P>
concept RecoveryPolicy = detail::Policy<P, slot::recovery> && detail::hook::Recovers<P>;

namespace detail {
template <class P, class Slot>
concept InAnotherSlot = !std::same_as<typename P::slot, Slot>;

/// A policy that has all members that its slot requires. A user's own slot requires no others.
template <class P>
concept CompletePolicy =
    Policy<P, typename P::slot> && (InAnotherSlot<P, slot::model> || ModelPolicy<P>) &&
    (InAnotherSlot<P, slot::data> || DataPolicy<P>) &&
    (InAnotherSlot<P, slot::precision> || PrecisionPolicy<P>) &&
    (InAnotherSlot<P, slot::optimizer> || OptimizerPolicy<P>) &&
    (InAnotherSlot<P, slot::schedule> || SchedulePolicy<P>) &&
    (InAnotherSlot<P, slot::clipping> || ClippingPolicy<P>) &&
    (InAnotherSlot<P, slot::batch> || BatchPolicy<P>) &&
    (InAnotherSlot<P, slot::memory> || MemoryPolicy<P>) &&
    (InAnotherSlot<P, slot::parallel> || ParallelPolicy<P>) &&
    (InAnotherSlot<P, slot::device> || DevicePolicy<P>) &&
    (InAnotherSlot<P, slot::recovery> || RecoveryPolicy<P>);
}  // namespace detail

}  // namespace sinter
