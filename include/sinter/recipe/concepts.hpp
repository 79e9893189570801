// The slots of a recipe, and what a policy for each of them must be.
//
// Every policy is an empty type that names its slot (`using slot = slot::…`). Its options, if any,
// are a structural aggregate: `using Options = …; static constexpr Options options = …;`, which
// lists its fields (SINTER_FIELDS, fields.hpp): each once, with what it may be, and whether a flag
// sets it. So they are a Struct of Boost.Hana, and become flags and printed lines.
//
// What options may be is checked when a recipe compiles and when a trainer is made. Beside the
// ranges of single numbers a policy may have
//   contradiction    contradiction(options), constexpr: what is wrong with several together, if
//                    anything is; called where all are within their ranges
//   why_fixed        why_fixed(name): why an option that its list calls adjustable is none in this
//                    policy; nothing where it is
// Any policy may also have
//   offered    an Offer: with what words and at what cost `describe` offers the policy, where it
//              would save memory; plan/alternatives.hpp lists the types
//   regions    flat state for each parameter, planned in the arena and saved in checkpoints
//   rewrite    a function from program to program, run at compile time
//   rules      RuleList<…>: what must hold of a recipe that uses it
//   model_rules  RuleList<…>: what must hold of the traced model, as a value (rules.hpp)
//   State      an aggregate of plain numbers that lists its fields and goes from step to step:
//              checkpoints hold it, and all ranks have the same. Such a policy may say
//                initial(options)                         how it starts, if not as State{}
//                loss_scale(state)                        what gradients are multiplied by
//                after_step(options, state, finite)       called after each step; true: it has
//                                                         dealt with one that was not applied
//                after_evaluation(options, state, loss)   called with each validation loss
//              and a schedule takes it: factor(options, state, step)
// A policy may change the global batch in the course of training (data/batch_shape.hpp):
//   next_batch(options, limits, sequences, shape)   changes its part of the shape of the batch that
//                                                   follows after so many sequences
//   check_batch(options, limits)                    throws ArgumentError where options contradict
// and may have
//   row_multiple     rows of a micro-batch are padded to a multiple of it, masked out of the loss
// A policy with a slot of its own (any type, in any namespace) may be added to every recipe.
#pragma once
#include <concepts>
#include <string_view>

#include "sinter/kernels/stream.hpp"
#include "sinter/program/model.hpp"
#include "sinter/recipe/fields.hpp"
#include "sinter/recipe/offer.hpp"
#include "sinter/recipe/rules.hpp"
#include "sinter/recipe/slots.hpp"

namespace sinter {

/// What is computed: units of layers, traced once.
/// requires  trace(g) says what comes in (g.tokens, g.values, …), which units there are, and ends
///           with g.result(loss)
/// ensures   a prediction, if there is predict(g), uses units of the same names and parameters
template <class P>
concept ModelPolicy = Policy<P, slot::model>;

/// Where rows come from, as far as memory and legality depend on it. What such a policy may offer
/// beside it, so that a binary can read its data, is in data/data_view.hpp.
/// requires  context: most rows of a sequence; vocabulary: ids are in [0, vocabulary), 0 without
///           ids
template <class P>
concept DataPolicy = Policy<P, slot::data> && requires {
  { P::context } -> std::convertible_to<int>;
  { P::vocabulary } -> std::convertible_to<int>;
};

/// Which C++ type plays each role.
/// requires  compute: activations and the weights that layers read; statistic: means, log-sum-exp,
///           losses; gradient and master: of parameters; accumulate: sums inside a layer;
///           matmul_inputs, if there is one: what layers' matmuls do to fp32 inputs
/// ensures   where compute is not master, a program that reads weights first casts them
template <class P>
concept PrecisionPolicy = Policy<P, slot::precision> && requires {
  sizeof(typename P::compute);
  sizeof(typename P::statistic);
  sizeof(typename P::gradient);
  sizeof(typename P::master);
  sizeof(typename P::accumulate);
};

/// The type of optimizers' state: Precision::state, or the masters' where it is not said.
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

/// What layers' matmuls do to their fp32 inputs: Precision::matmul_inputs, or nothing.
template <class P>
constexpr kernel::MatmulInputs matmul_inputs_of() {
  if constexpr (requires { P::matmul_inputs; }) {
    return P::matmul_inputs;
  } else {
    return kernel::MatmulInputs::whole;
  }
}

/// Updates parameters from finished gradients.
/// requires  gradients are reduced, and final; Stretch::gradient_scale unscales and clips them
/// ensures   update(options, stretch) advances master weights one step; `regions` is all that must
///           be checkpointed. With `casts` (false where it is not said) it makes the copy of the
///           weights, too; learning_rate(options, step), if there is one, is the rate of a step,
///           counted from 1; with `by_parameter` it is given parameters one by one, each whole, and
///           workspace(layer, number), if there is one, says how many bytes one takes
template <class P>
concept OptimizerPolicy = Policy<P, slot::optimizer> && requires(const typename P::Options& o) {
  P::regions;
  { P::learning_rate(o) } -> std::convertible_to<double>;
};

/// The factor of the learning rate at each step.
/// requires  step >= 1, counting applied steps
/// ensures   a factor >= 0; the horizon belongs to the schedule, not to the run
template <class P>
concept SchedulePolicy =
    Policy<P, slot::schedule> &&
    (requires(const typename P::Options& o, std::int64_t step) {
      { P::factor(o, step) } -> std::convertible_to<double>;
    } || requires(const typename P::Options& o, const typename P::State& s, std::int64_t step) {
      { P::factor(o, s, step) } -> std::convertible_to<double>;
    });

/// How gradients are bounded before the update.
/// requires  norm: of all gradients, finite
/// ensures   the factor, in (0, 1], by which they are scaled; limit(options), if there is one, is
///           the largest magnitude that each may then have
template <class P>
concept ClippingPolicy =
    Policy<P, slot::clipping> && requires(const typename P::Options& o, double norm) {
      { P::scale(o, norm) } -> std::convertible_to<double>;
    };

/// How many sequences make a step, and how many are computed at once.
/// requires  micro: sequences of a micro-batch, the budget of activations; options.global:
/// sequences
///           of a step
template <class P>
concept BatchPolicy = Policy<P, slot::batch> && requires {
  { P::micro } -> std::convertible_to<int>;
  { P::options.global } -> std::convertible_to<int>;
};

/// What backward computes again rather than keeps. keeps_whole(copy), if there is one: whether this
/// copy of a repeated unit, counted from 0, keeps all, whatever is recomputed inside the others.
/// ensures   the same bits as the plain program
template <class P>
concept MemoryPolicy = Policy<P, slot::memory> && requires(const Layer& layer) {
  { P::recomputed_inside(layer) } -> std::same_as<bool>;
};

/// Many ranks: what is communicated, and when.
/// requires  reduces: whether gradients must be summed over ranks before the norm
/// ensures   the same step as one rank on the whole global batch, to rounding
template <class P>
concept ParallelPolicy = Policy<P, slot::parallel> && requires(const typename P::Options& o) {
  { P::reduces } -> std::convertible_to<bool>;
  { P::ranks(o) } -> std::convertible_to<int>;
};

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
    (InAnotherSlot<P, slot::parallel> || ParallelPolicy<P>);

}  // namespace sinter
