// The seam between the plan, which counts bytes, and the layers, which have types.
#pragma once
#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/random.hpp"
#include "sinter/kernels/tensor.hpp"
#include "sinter/layer/layer.hpp"

namespace sinter {

using kernel::Sequences;
using kernel::Tensor;

/// What is true of the micro-batch at hand, for all calls.
struct Now {
  std::array<Sequences, axes> sequences{};
  kernel::Stream* stream = nullptr;
  double loss_weight = 0;      // 1 / (predictions in the whole global batch, over all ranks)
  std::uint64_t seed = 0;      // of dropout
  std::int64_t step = 0;       // the one being taken, from 1
  std::int64_t first_row = 0;  // number of the first row of axis 0 within the global batch
  int iteration = 0;           // of the loop over micro-batches
  bool training = true;
};

/// Chained, so that one seed's steps are not its neighbour's.
constexpr std::uint64_t dropout_key(const Now& now, std::uint32_t site) {
  return kernel::mix(kernel::mix(kernel::mix(now.seed) + std::uint64_t(now.step)) + site);
}

/// One operand, resolved to an address. Becomes a Tensor<T> only if T has the planned size.
struct BoundOperand {
  enum Put : std::uint8_t { assign, add, add_after_first };  // after the first micro-batch

  void* data = nullptr;
  kernel::Shape shape;  // as of the micro-batch at hand
  std::uint8_t element_bytes = 0, axis = 0;
  bool rows_of_axis = true;  // as many rows as the axis has now, not always the same
  Put put = assign;

  void update(const Now& now) {
    if (rows_of_axis) shape.rows = now.sequences[axis].rows();
    shape.add = put == add || (put == add_after_first && now.iteration > 0);
  }
};

/// What one layer sees in one call. Made once; only Now changes, and with it its operands' shapes.
struct Call {
  std::array<BoundOperand, max_inputs> x, dx;
  std::array<BoundOperand, max_outputs> y, dy;
  std::array<BoundOperand, max_fields> saved, weights, gradients;
  std::array<std::uint8_t, max_inputs> axis{};
  void* scratch = nullptr;
  const Now* now = nullptr;
  std::uint32_t dropout_site = 0;  // the unit and node of the call in the model

  template <class T>
  Tensor<T> tensor(const BoundOperand& operand) const {
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

struct Nothing {};

template <class L, class T>
auto params_type() {
  if constexpr (requires { L::params; }) {
    return std::type_identity<typename L::template Params<T>>{};
  } else {
    return std::type_identity<Nothing>{};
  }
}

template <class L, class T, class Statistic>
auto saved_type() {
  if constexpr (requires { L::saved; }) {
    return std::type_identity<typename L::template Saved<T, Statistic>>{};
  } else {
    return std::type_identity<Nothing>{};
  }
}

/// An operand on its way into a field of an aggregate of tensors.
struct Pending {
  const Call& call;
  const BoundOperand& operand;
  template <class T>
  operator Tensor<T>() const {
    return call.tensor<T>(operand);
  }
};

/// The aggregate whose fields are the first operands.
template <class Aggregate, std::size_t Count>
Aggregate bind_fields(const Call& call, const std::array<BoundOperand, max_fields>& operands) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Aggregate{Pending{call, operands[I]}...};
  }(std::make_index_sequence<Count>());
}

/// What forward() and backward() see: tensors of the types that the precision policy P chose.
///   x(i) y(o)        operands (forward) and results; ids(i) an operand of integers
///   dy(o) dx(i)      gradients (backward); dx is empty where nobody wants it
///   weights gradients saved    the layer's aggregates Params and Saved; gradients are empty where
///                              the unit is frozen
///   sequences(i) rows()        of operand i
///   loss_weight()    for losses: the factor of each row's loss in the step's loss
///   scratch()        what scratch(rows) asked for, uninitialised
///   dropout(p)       a mask that recomputation and any split of the global batch repeat
template <class L, class P>
class Context {
  using Compute = Tensor<typename P::compute>;
  using Statistic = Tensor<typename P::statistic>;
  using Gradient = Tensor<typename P::gradient>;
  using Result = std::conditional_t<describe_layer<L>().loss, Statistic, Compute>;
  using Weights = typename decltype(params_type<L, Compute>())::type;
  using Gradients = typename decltype(params_type<L, Gradient>())::type;
  using Saved = typename decltype(saved_type<L, Compute, Statistic>())::type;
  const Call& call;

 public:
  using precision = P;
  using compute = typename P::compute;
  const Weights weights;
  const Gradients gradients;
  const Saved saved;

  explicit Context(const Call& c)
      : call(c),
        weights(bind_fields<Weights, params_of<L>().size()>(c, c.weights)),
        gradients(bind_fields<Gradients, params_of<L>().size()>(c, c.gradients)),
        saved(bind_fields<Saved, saved_of<L>().size()>(c, c.saved)) {}

  /// A zero of the type in which sums are accumulated.
  static auto zero() { return typename P::accumulate(0); }
  kernel::Stream& stream() const { return *call.now->stream; }
  const Sequences& sequences(int i = 0) const { return call.now->sequences[call.axis[i]]; }
  int rows(int i = 0) const { return sequences(i).rows(); }
  Compute x(int i = 0) const { return call.tensor<compute>(call.x[i]); }
  Compute dx(int i = 0) const { return call.tensor<compute>(call.dx[i]); }
  Result y(int i = 0) const {
    return call.tensor<std::remove_pointer_t<decltype(Result::data)>>(call.y[i]);
  }
  Compute dy(int i = 0) const { return call.tensor<compute>(call.dy[i]); }
  Tensor<std::int32_t> ids(int i = 0) const { return call.tensor<std::int32_t>(call.x[i]); }
  typename P::statistic* scratch() const {
    return static_cast<typename P::statistic*>(call.scratch);
  }
  double loss_weight() const { return call.now->loss_weight; }
  bool training() const { return call.now->training; }
  kernel::Dropout dropout(float probability) const {
    const Now& now = *call.now;
    return {now.training ? probability : 0, dropout_key(now, call.dropout_site), now.first_row};
  }
};

template <class L, class P>
concept Differentiable = requires(Context<L, P>& c) { L::backward(c); };

template <class L, class P>
constexpr Layer erase_layer() {
  Layer layer = describe_layer<L>();
  if constexpr (requires { L::template scratch<P>(1); }) layer.scratch = L::template scratch<P>;
  layer.forward = [](const Call& call) {
    Context<L, P> c(call);
    L::forward(c);
  };
  if constexpr (Differentiable<L, P>) {
    layer.backward = [](const Call& call) {
      Context<L, P> c(call);
      L::backward(c);
    };
  }
  return layer;
}

template <class L, class P>
inline constexpr Layer erased = erase_layer<L, P>();

}  // namespace sinter
