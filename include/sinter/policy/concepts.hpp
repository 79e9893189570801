// SPDX-License-Identifier: Apache-2.0
// The slots of a recipe, and what a policy for each of them must be.
//
// Every policy is an empty type that names its slot (`using slot = slot::…`). Its options, if it
// has any, are a structural aggregate (`using Options = …; static constexpr Options options = …;`),
// which lists its fields (SINTER_FIELDS, fields.hpp): each once, with what it may be, and whether a
// flag sets it. So they are a Struct of Boost.Hana, and become flags and printed lines. An option
// that is not adjustable is frozen in the type, in most cases because it changes code or the layout
// of memory.
//
// What any policy may have beside these, whatever its slot, are hooks (policy/hooks.hpp).
// A policy with a slot of its own (any type, in any namespace) may be added to every recipe.
#pragma once
#include <concepts>
#include <string_view>

#include "sinter/hardware/stream.hpp"
#include "sinter/policy/fields.hpp"
#include "sinter/policy/hooks.hpp"
#include "sinter/policy/offer.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/policy/slots.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

/// What is computed: units of layers, traced once.
///   trace(g)     says what comes in (g.tokens, g.values, …) and which units there are, and ends
///                with g.result(loss)
///   predict(g)   (optional) does so for a prediction, with units of the same names and parameters
///   predict_rows(g)  (optional, beside predict) the same, where it is made at each position
template <class P>
concept ModelPolicy = Policy<P, slot::model>;

/// Where rows come from, as far as memory and rules depend on it. What else such a policy may have,
/// so that a binary can read its data, is in data/data_view.hpp.
///   context      the most rows of a sequence
///   vocabulary   ids are in [0, vocabulary); 0 without ids
///   second_context   (optional) the most rows of a sequence on axis 1 (HostBatch::second_starts);
///                    else that is `context`
template <class P>
concept DataPolicy = Policy<P, slot::data> && requires {
  { P::context } -> std::convertible_to<int>;
  { P::vocabulary } -> std::convertible_to<int>;
};

/// Which C++ type plays each role.
///   compute         activations, and the weights that layers read
///   statistic       means, log-sum-exp, losses
///   gradient        gradients of parameters
///   master          master weights
///   accumulate      sums inside a layer
///   state           (optional) the optimizer's state; else it is of the type of master
///   matmul_inputs   (optional) what matmuls of layers do to fp32 inputs; else nothing
/// ensures   if compute is not master, a program casts the weights before it reads them
template <class P>
concept PrecisionPolicy = Policy<P, slot::precision> && requires {
  sizeof(typename P::compute);
  sizeof(typename P::statistic);
  sizeof(typename P::gradient);
  sizeof(typename P::master);
  sizeof(typename P::accumulate);
};

/// The type of the optimizer's state in the precision policy P.
template <class P>
struct StateTypeOf {
  using type = typename P::master;
};
template <class P>
  requires requires { typename P::state; }
struct StateTypeOf<P> {
  using type = typename P::state;
};
template <class P>
using StateOf = typename StateTypeOf<P>::type;

/// What matmuls of layers do to their fp32 inputs in the precision policy P.
template <class P>
constexpr kernel::MatmulInputs matmul_inputs_of() {
  if constexpr (requires { P::matmul_inputs; }) {
    return P::matmul_inputs;
  } else {
    return kernel::MatmulInputs::whole;
  }
}

/// Updates parameters from gradients that are reduced and final.
///   update(options, stretch)       advances the master weights of a Stretch by one step;
///                                  Stretch::decision unscales and clips the gradients
///   regions                        all the state that must be in checkpoints
///   learning_rate(options)         the rate before the schedule
///   learning_rate(options, step)   (optional) the same at a step, counted from 1
///   casts                          (optional) true if update() makes the copy of the weights, too
///   by_parameter                   (optional) true if update() takes parameters one by one, each
///                                  whole
///   workspace(layer, number)       (optional) the bytes that an update of this parameter needs
template <class P>
concept OptimizerPolicy = Policy<P, slot::optimizer> && requires(const typename P::Options& o) {
  P::regions;
  { P::learning_rate(o) } -> std::convertible_to<double>;
};

/// The factor of the learning rate at each step. Its horizon is the schedule's, not the run's.
///   factor(options, step), or factor(options, state, step) if the schedule has a State
/// requires  step >= 1, counting applied steps
/// ensures   the factor is >= 0
template <class P>
concept SchedulePolicy =
    Policy<P, slot::schedule> &&
    (requires(const typename P::Options& o, std::int64_t step) {
      { P::factor(o, step) } -> std::convertible_to<double>;
    } || requires(const typename P::Options& o, const typename P::State& s, std::int64_t step) {
      { P::factor(o, s, step) } -> std::convertible_to<double>;
    });

/// How gradients are bounded before the update.
///   bound(options)   the largest norm of all gradients together, to which they are scaled down;
///                    infinity if there is none
///   limit(options)   (optional) the largest magnitude that each may then have
/// ensures   both are above 0
template <class P>
concept ClippingPolicy = Policy<P, slot::clipping> && requires(const typename P::Options& o) {
  { P::bound(o) } -> std::convertible_to<double>;
};

/// How many sequences make a step, and how many are computed at once.
///   micro            sequences of a micro-batch, for which activations are planned
///   options.global   sequences of a step
template <class P>
concept BatchPolicy = Policy<P, slot::batch> && requires {
  { P::micro } -> std::convertible_to<int>;
  { P::options.global } -> std::convertible_to<int>;
};

/// What backward computes again rather than keeps.
///   recomputed_inside(layer)   whether such a layer is recomputed inside its unit's backward
///   keeps_whole(copy)          (optional) whether this copy of a repeated unit, counted from 0,
///                              keeps all, whatever is recomputed inside the others
///   Chosen, fits               (optional) choose another recipe to plan, see Budget
/// ensures   the step has the same bits as the plain program's
template <class P>
concept MemoryPolicy = Policy<P, slot::memory> && requires(const Layer& layer) {
  { P::recomputed_inside(layer) } -> std::same_as<bool>;
};

/// How many ranks there are, what they communicate, and when.
///   ranks(options)   how many
///   reduces          whether gradients must be summed over the ranks before the norm
///   shards           (optional) over how many ranks what only the update needs is split
///                    (Model::shards); then ranks() is that for all options
///   owners           (optional) whether its instructions know shards that are whole parameters of one
///                    owner each, for optimizers that take them so (Model::owned)
///   splits_gradients (optional) whether gradients are, too: in each micro-batch its rewrite() adds
///                    the sums over the ranks of those that backward makes (Model::gradients)
///   splits_weights   (optional) whether the weights that layers read are, too: its rewrite() and
///                    rewrite_forward() fetch those of a unit before they are read (Model::keeps_weights)
///   at_root          (optional) whether one rank alone updates (Model::at_root)
/// ensures   the step is that of one rank on the whole global batch, to rounding
template <class P>
concept ParallelPolicy = Policy<P, slot::parallel> && requires(const typename P::Options& o) {
  { P::reduces } -> std::convertible_to<bool>;
  { P::ranks(o) } -> std::convertible_to<int>;
};

/// Where the step is computed.
///   on_host         whether code on the host may touch the device's memory
///   open(options)   lets the calling thread compute on it; throws Error where it is not there. Calls
///                   what the library with the device's kernels defines, so that a binary without
///                   them does not link
///   join(stream, world)   makes this process's end of ranks that are processes; see nccl_rank(),
///                   shared_memory_rank() and hosts_rank(). Where not on_host, recipes with ranks need it
template <class P>
concept DevicePolicy = Policy<P, slot::device> && requires(const typename P::Options& o) {
  { P::on_host } -> std::convertible_to<bool>;
  P::open(o);
};

/// What a run does when a step goes wrong. No recipe needs one: training then stops.
///   recover(options, state, step)   says it; see policy/hooks.hpp
template <class P>
concept RecoveryPolicy = Policy<P, slot::recovery> && hook::Recovers<P>;

template <class P, class Slot>
concept InAnotherSlot = !std::same_as<typename P::slot, Slot>;

/// A policy that is all that its slot asks for. A slot of one's own asks for nothing more.
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

}  // namespace sinter
