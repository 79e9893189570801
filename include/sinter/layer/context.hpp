// SPDX-License-Identifier: Apache-2.0
// Passes operands from the plan, which counts bytes, to layers, which see typed tensors.
#pragma once
#include <algorithm>
#include <cassert>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/kernels/cached_attention.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/random.hpp"
#include "sinter/kernels/tensor.hpp"
#include "sinter/layer/layer.hpp"
#include "sinter/layer/setting.hpp"

namespace sinter {

using kernel::Tensor;

namespace detail {
using kernel::Sequences;

/// Where rows of texts lie in the layers' caches, by sequence (kernel::Cache).
struct CacheRows {
  std::array<const std::int32_t*, token_axes> slots{};  ///< of each axis
  const std::int32_t* sources = nullptr;                ///< of axis 0
  int source_rows = 0;                                  ///< numbers of `sources` for each sequence
};

/// State that all layer calls on the current micro-batch share.
struct Now {
  std::array<Sequences, axes> sequences{};  ///< sequences of each axis
  kernel::Stream* stream = nullptr;         ///< stream for kernels of layers
  double loss_weight = 0;  ///< 1 / (predictions in the whole global batch, over all ranks)
  /// The options of cross-entropies in training (kernel::LossOptions). Class weights have the type
  /// for losses.
  double label_smoothing = 0, class_weight_sum = 0;
  const void* class_weights = nullptr;
  unsigned long long* right = nullptr;  ///< of evaluation, as in kernel::LossOptions; may be null
  std::uint64_t seed = 0;               ///< seed of dropout
  std::int64_t step = 0;                ///< number of the current step, from 1
  std::array<std::int64_t, axes> first_row{};  ///< the number of row 0 within the global batch
  int iteration = 0;                           ///< number of the micro-batch in its loop, from 0
  bool training = true;  ///< true in training; evaluation and prediction drop nothing out
  CacheRows cache{};     ///< where sequences continue texts
};

/// The key of the dropout masks of one step at one site (Call::dropout_site). Mixing is chained, so
/// that neighbouring seeds do not share keys.
constexpr std::uint64_t dropout_key(const Now& now, std::uint32_t site) {
  return kernel::mix(kernel::mix(kernel::mix(now.seed) + std::uint64_t(now.step)) + site);
}

/// One operand, resolved to an address. It becomes a Tensor<T> only if T has the planned size.
struct BoundOperand {
  /// How a kernel writes a gradient. `add_after_first` assigns in the first micro-batch of a step
  /// and adds in later ones.
  enum Put : std::uint8_t { assign, add, add_after_first };

  void* data = nullptr;                      ///< null if there is no such operand
  kernel::Shape shape;                       ///< for the current micro-batch
  std::uint8_t element_bytes = 0, axis = 0;  ///< as planned
  bool rows_of_axis = true;  ///< true if it has the rows of its axis, else a fixed number
  Put put = assign;          ///< how a gradient is written

  /// Sets shape for the current micro-batch.
  void update(const Now& now) {
    if (rows_of_axis) shape.rows = now.sequences[axis].rows();
    shape.add = put == add || (put == add_after_first && now.iteration > 0);
  }
};

/// A layer's part of the key-value cache, resolved to an address.
struct BoundCache {
  void* data = nullptr;              ///< null if the layer has none
  std::int32_t rows = 0, width = 0;  ///< as of kernel::Cache
  std::uint8_t axis = 0;             ///< axis of the rows
};

/// The purpose of a call of forward, which tells a LayerObject what to keep.
enum class Pass : std::uint8_t {
  kept,     ///< for backward, which reads what this call leaves
  dropped,  ///< for its results only: the call is repeated (`again`) before backward
  again,    ///< the repeated call, on the same operands; backward reads what it leaves
  alone     ///< no backward follows: an evaluation, a prediction, or nothing here is trained
};
}  // namespace detail

/// The operands of one layer call. Made once; only Now changes from micro-batch to micro-batch, and
/// with it the shapes of operands.
struct Call {
  std::array<detail::BoundOperand, detail::max_inputs> x, dx;   ///< operands and their gradients
  std::array<detail::BoundOperand, detail::max_outputs> y, dy;  ///< results and their gradients
  std::array<detail::BoundOperand, detail::max_fields> saved;   ///< in the order of Saved
  std::vector<detail::BoundOperand> weights, gradients;         ///< in the order of Params
  std::array<std::uint8_t, detail::max_inputs> axis{};          ///< axis of each x
  detail::BoundCache cache{};        ///< what is kept of earlier rows of texts
  void* scratch = nullptr;           ///< elements that the layer's scratch() asked for
  const detail::Now* now = nullptr;  ///< what changes with each micro-batch
  std::uint32_t dropout_site = 0;    ///< identifies the unit and node of the call in the model
  LayerObject* object = nullptr;     ///< object of this use, if the layer is unplanned
  detail::Pass pass = detail::Pass::alone;  ///< why forward is called, if the layer is unplanned
  bool frozen = false;                      ///< true if the layer is unplanned and its unit frozen

  /// An operand as a tensor.
  /// requires  T has the size that was planned; asserted, where assertions are on
  template <class T>
  Tensor<T> tensor(const detail::BoundOperand& operand) const {
    return as<Tensor<T>>(operand);
  }
  /// An operand as a Tensor or DeviceTensor.
  template <class Of>
  Of as(const detail::BoundOperand& operand) const {
    using T = std::remove_pointer_t<decltype(Of::data)>;
    assert((!operand.data || operand.element_bytes == sizeof(T)) &&
           "Sinter: planned and used element sizes differ");
    return {static_cast<T*>(operand.data), operand.shape};
  }
  /// Calls visit(operands) for each array of operands.
  template <class Visit>
  void each_array(const Visit& visit) {
    visit(x), visit(dx), visit(y), visit(dy), visit(saved), visit(weights), visit(gradients);
  }
};

template <class L, class P>
class Context;

namespace detail {
/// Stands in for Params or Saved of a layer that has none, or has an array instead.
struct Nothing {};

/// The layer's aggregate Params of T, or Nothing.
template <class L, class T>
auto params_type() {
  if constexpr (requires { typename L::template Params<T>; }) {
    return std::type_identity<typename L::template Params<T>>{};
  } else {
    return std::type_identity<Nothing>{};
  }
}

/// The layer's aggregate Saved of T and Statistic, or Nothing.
template <class L, class T, class Statistic>
auto saved_type() {
  if constexpr (requires { typename L::template Saved<T, Statistic>; }) {
    return std::type_identity<typename L::template Saved<T, Statistic>>{};
  } else {
    return std::type_identity<Nothing>{};
  }
}

/// An operand that converts to the tensor type of the field that it initialises.
struct Pending {
  const Call& call;             ///< the layer call
  const BoundOperand& operand;  ///< the operand, without its type
  template <class Of>
    requires std::derived_from<Of, Tensor<std::remove_pointer_t<decltype(Of::data)>>>
  /// The operand as a tensor.
  operator Of() const {
    return call.as<Of>(operand);
  }
};

/// An Aggregate of tensors whose fields are the first Count operands.
template <class Aggregate, std::size_t Count>
Aggregate bind_fields(const Call& call, const auto& operands) {
  if constexpr (std::is_same_v<Aggregate, Nothing>) {
    return {};
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Aggregate{Pending{call, operands[I]}...};
    }(std::make_index_sequence<Count>());
  }
}

/// A layer that makes an object for each of its uses, which computes both directions. P is the
/// precision policy.
template <class L, class P>
concept HasObject = requires {
  { L::template object<P>() } -> std::same_as<std::unique_ptr<LayerObject>>;
};

/// A layer that has a backward() of its own for the precision policy P.
template <class L, class P>
concept HasBackward = requires(Context<L, P>& c) { L::backward(c); };

/// A layer that computes rows that continue texts, with the precision policy P.
template <class L, class P>
concept Extends = requires(Context<L, P>& c) { L::extend(c); };

/// A layer that computes gradients with the precision policy P.
template <class L, class P>
concept Differentiable = HasBackward<L, P> || HasObject<L, P>;

/// describe_layer<L>(), with the layer's functions for precision P.
template <class L, class P>
constexpr Layer erase_layer() {
  Layer layer = describe_layer<L>();
  layer.scratch = scratch_of<L, P>;
  if constexpr (HasObject<L, P>) {
    layer.object = L::template object<P>;
    layer.forward = [](const Call& call) { call.object->forward(call); };
    layer.backward = [](const Call& call) { call.object->backward(call); };
  } else {
    layer.forward = [](const Call& call) {
      Context<L, P> c(call);
      L::forward(c);
    };
    if constexpr (HasBackward<L, P>) {
      layer.backward = [](const Call& call) {
        Context<L, P> c(call);
        L::backward(c);
      };
    }
    if constexpr (Extends<L, P>) {
      layer.extends = true;
      layer.extend = [](const Call& call) {
        Context<L, P> c(call);
        L::extend(c);
      };
    }
  }
  return layer;
}

/// The layer L with its type erased. Its address identifies the layer.
template <class L, class P>
inline constexpr Layer erased = erase_layer<L, P>();
}  // namespace detail

/// The argument of forward() and backward() of layer L: operands as tensors of the types that P
/// chooses. P is a precision policy, or the Setting of one.
template <class L, class P>
class Context {
  using Compute = detail::TensorFor<P, typename P::compute>;
  using Statistic = detail::TensorFor<P, typename P::statistic>;
  using Gradient = detail::TensorFor<P, typename P::gradient>;
  using Ids = detail::TensorFor<P, std::int32_t>;
  using Result = std::conditional_t<detail::describe_layer<L>().loss, Statistic, Compute>;
  using Weights = typename decltype(detail::params_type<L, Compute>())::type;
  using Gradients = typename decltype(detail::params_type<L, Gradient>())::type;
  using Saved = typename decltype(detail::saved_type<L, Compute, Statistic>())::type;
  const Call& call;

 public:
  /// The precision policy.
  using precision = P;
  /// The type of activations and weights.
  using compute = typename P::compute;
  const Weights weights;      ///< as the layer's aggregate Params
  const Gradients gradients;  ///< as Params; empty tensors where the unit is frozen
  const Saved saved;          ///< as the layer's aggregate Saved

  /// Binds the operands of a layer call.
  explicit Context(const Call& c)
      : call(c),
        weights(detail::bind_fields<Weights, detail::params_of<L>().size()>(c, c.weights)),
        gradients(detail::bind_fields<Gradients, detail::params_of<L>().size()>(c, c.gradients)),
        saved(detail::bind_fields<Saved, detail::saved_of<L>().size()>(c, c.saved)) {}

  /// A zero of the type in which sums are accumulated.
  static auto zero() { return typename P::accumulate(0); }
  /// The stream that runs the kernels of the layer.
  kernel::Stream& stream() const { return *call.now->stream; }
  /// The sequences and rows of operand i.
  const detail::Sequences& sequences(int i = 0) const { return call.now->sequences[call.axis[i]]; }
  /// The rows of operand i.
  int rows(int i = 0) const { return sequences(i).rows(); }
  /// Operand i, in forward.
  Compute x(int i = 0) const { return call.as<Compute>(call.x[i]); }
  /// The gradient of operand i, which backward writes; empty if it is not needed.
  Compute dx(int i = 0) const { return call.as<Compute>(call.dx[i]); }
  /// Result i, which forward writes, or backward if L is a loss.
  Result y(int i = 0) const { return call.as<Result>(call.y[i]); }
  /// The gradient of result i, in backward.
  Compute dy(int i = 0) const { return call.as<Compute>(call.dy[i]); }
  /// Operand i, if it is one of integer ids.
  Ids ids(int i = 0) const { return call.as<Ids>(call.x[i]); }
  /// What the layer keeps of earlier rows of the texts, in extend().
  kernel::Cache<typename P::compute> cache() const {
    const detail::BoundCache& kept = call.cache;
    const detail::CacheRows& rows = call.now->cache;
    return {static_cast<typename P::compute*>(kept.data),
            kept.rows,
            kept.width,
            rows.slots[kept.axis],
            kept.axis == 0 ? rows.sources : nullptr,
            rows.source_rows};
  }
  /// The elements that the layer's scratch() asked for, uninitialised.
  typename P::statistic* scratch() const {
    return static_cast<typename P::statistic*>(call.scratch);
  }
  /// The factor of each row's loss in the step's loss.
  double loss_weight() const { return call.now->loss_weight; }
  /// What a cross-entropy of ids does beside the plain loss: in training it has label smoothing and
  /// class weights, in an evaluation it may count targets whose logit is the largest.
  kernel::LossOptions<typename P::statistic> loss_options() const {
    const detail::Now& now = *call.now;
    if (!now.training) return {.right = now.right};
    return {now.label_smoothing, static_cast<const typename P::statistic*>(now.class_weights),
            now.class_weight_sum};
  }
  /// True in a training step, false in an evaluation or a prediction.
  bool training() const { return call.now->training; }
  /// The argument for kernel::dropout(). Recomputation and any split of the global batch reproduce
  /// its mask; outside training it drops nothing.
  kernel::Dropout dropout(float probability) const {
    const detail::Now& now = *call.now;
    return {now.training ? probability : 0, detail::dropout_key(now, call.dropout_site),
            now.first_row[call.axis[0]]};
  }
};

}  // namespace sinter
