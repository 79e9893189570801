// SPDX-License-Identifier: Apache-2.0
// What a layer says about itself, and what the planner keeps of it.
//
// A layer is an empty type:
//   in, out      the widths of its operands and results; 0 stands for an operand of integer ids
//   params       (optional) has one Param for each field of its aggregate Params
//   saved        (optional) has one Keep for each field of its aggregate Saved
//   forward(c)   and backward(c) compute, with what a Context gives them (context.hpp)
// A layer that takes memory which is not planned has in place of the last two
//   object<P>()  makes the LayerObject of one of its uses, which computes; P is the precision policy
//   unplanned    true
// and its params may be an array of any number of Param, its saved one of at most four Keep.
// Any layer may state facts:
//   cheap                        whether its results are worth recomputing rather than keeping
//   passes_gradient              whether dx is dy for each operand, see Layer::passes_gradient
//   loss                         whether its result is one loss for each row, see Layer::loss
//   pools                        whether its result has one row for each sequence
//   takes_last                   whether it pools by taking the last row, see Layer::takes_last
//   causal                       whether its rows see none that follow them, see Layer::causal
//   bidirectional                whether its rows see also those that follow them
//   reads_weights_in_backward    whether it does so; by default it does if it has parameters
//   ids_below                    ids must be below this
//   flops(context)               those of forward, for one row of a result in a sequence of `context`
//                                rows; or flops(context, other), other the rows of that sequence on
//                                the axis of the second operand
//   scratch(rows)                elements of the statistic type that a layer call needs for itself,
//                                for so many rows of the first operand; or scratch(rows, other),
//                                other the rows of the second; or scratch<P>(rows) or
//                                scratch<P>(rows, other), P the precision policy
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "sinter/base/element.hpp"

namespace sinter {

/// The roles of elements. The precision policy says which C++ type plays each.
enum class Type : std::uint8_t { compute, statistic, gradient, master, state, index };
inline constexpr int types = 6;  ///< how many there are

/// How a parameter starts.
struct Init {
  /// The distributions that there are.
  enum How : std::uint8_t { zeros, ones, normal, uniform } how = zeros;
  float scale = 0;  ///< normal: the deviation, around 0; uniform: numbers lie within ±scale
};
/// All 0, and all 1.
inline constexpr Init zeros{Init::zeros}, ones{Init::ones};
/// Draws from the normal distribution around 0.
constexpr Init normal(float deviation) { return {Init::normal, deviation}; }
/// Draws evenly from [-bound, bound].
constexpr Init uniform(float bound) { return {Init::uniform, bound}; }

/// The most dimensions that a parameter has in files.
inline constexpr int max_dimensions = 4;

/// A parameter, with the name and shape that it has in the architecture's files.
struct Param {
  const char* name;   ///< such as "weight"; its unit's and node's names come before it
  int rows, columns;  ///< as in files; a vector has one row
  Init init;          ///< how it starts
  bool matrix;        ///< weight decay acts on matrices, and not on vectors (biases, norms)
  int padding = 0;  ///< rows of zeros behind it in flat buffers, and nowhere else: no file has them
  int fan_in = 0, fan_out = 0;  ///< of a hidden() matrix, however it is stored; else 0
  /// Its shape in files, with zeros behind it, where that is not rows × columns.
  std::array<int, max_dimensions> dimensions{};
  /// Whether forward itself changes it in training, see running().
  bool running = false;
  /// Elements in files.
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  /// Elements in flat buffers, padding included.
  constexpr std::int64_t stored() const { return std::int64_t(rows + padding) * columns; }
};
/// A matrix of this name and shape.
constexpr Param matrix(const char* name, int rows, int columns, Init init, int padding = 0) {
  return {name, rows, columns, init, true, padding};
}
/// A vector of this name and size.
constexpr Param vector(const char* name, int size, Init init) {
  return {name, 1, size, init, false};
}
/// A tensor of this name and of more dimensions than two, such as the weight of a convolution: to
/// all but files it is a matrix with a row for each index of the first dimension.
template <std::size_t N>
  requires(N > 2 && N <= std::size_t(max_dimensions))
constexpr Param tensor(const char* name, const int (&dimensions)[N], Init init) {
  int columns = 1;
  for (std::size_t d = 1; d < N; ++d) columns *= dimensions[d];
  Param param = matrix(name, dimensions[0], columns, init);
  for (std::size_t d = 0; d < N; ++d) param.dimensions[d] = dimensions[d];
  return param;
}
/// Numbers of this name and shape that forward itself changes in training, such as the running mean
/// of a batch norm, and not an optimizer: they have no gradient and no decay. Files hold them as
/// they are after the last step that was applied.
template <std::size_t N>
  requires(N <= std::size_t(max_dimensions))
constexpr Param running(const char* name, const int (&dimensions)[N], Init init) {
  int size = 1;
  for (int d : dimensions) size *= d;
  Param param = vector(name, size, init);
  for (std::size_t d = 0; d < N; ++d) param.dimensions[d] = dimensions[d];
  param.running = true;
  return param;
}
/// The same for a single number, which has no dimension in files.
constexpr Param running(const char* name, Init init) {
  Param param = vector(name, 1, init);
  param.running = true;
  return param;
}
/// The same matrix, which is said to lead from `in` hidden features to `out`: it is no embedding,
/// and belongs neither to the first nor to the last layer of a model.
constexpr Param hidden(Param matrix, int in, int out) {
  matrix.fan_in = in;
  matrix.fan_out = out;
  return matrix;
}

/// One thing that backward reads: an operand or a result, which is free, as only its lifetime
/// grows, or numbers of the layer's own.
struct Keep {
  /// What is kept.
  enum Kind : std::uint8_t { input, output, own } kind;
  int which = 0;              ///< of the operands or results
  int width = 0;              ///< of `own`: numbers for each row
  Type type = Type::compute;  ///< of `own`
};
/// Keeps an operand.
constexpr Keep input(int which = 0) { return {Keep::input, which}; }
/// Keeps a result.
constexpr Keep output(int which = 0) { return {Keep::output, which}; }
/// Keeps so many numbers of its own for each row, in the compute type.
constexpr Keep own(int width) { return {Keep::own, 0, width}; }
/// Means, deviations, log-sum-exp: they are kept in the statistic type, whatever the compute type.
constexpr Keep statistic(int width = 1) { return {Keep::own, 0, width, Type::statistic}; }

/// Axes 0 and 1 have rows of tokens; axis a + 2 has one row for each sequence of axis a.
inline constexpr int token_axes = 2, axes = 4;
/// The axis with one row for each sequence of this one.
constexpr int pooled(int axis) { return axis + token_axes; }

/// The most operands, results, and fields of Params and of Saved that a layer has. (An array in
/// place of Params has any number.)
inline constexpr int max_inputs = 4, max_outputs = 3, max_fields = 4;

/// The fields, in an array, of an aggregate whose fields are all T.
template <class T, class Aggregate>
constexpr auto fields(const Aggregate& aggregate) {
  constexpr int count = sizeof(Aggregate) / sizeof(T);
  static_assert(count <= max_fields, "Sinter: a layer has at most four parameters and keeps.");
  if constexpr (count == 1) {
    auto& [a] = aggregate;
    return std::array{a};
  } else if constexpr (count == 2) {
    auto& [a, b] = aggregate;
    return std::array{a, b};
  } else if constexpr (count == 3) {
    auto& [a, b, c] = aggregate;
    return std::array{a, b, c};
  } else {
    auto& [a, b, c, d] = aggregate;
    return std::array{a, b, c, d};
  }
}

/// The parameters of the layer L, in an array.
template <class L>
constexpr auto params_of() {
  if constexpr (requires { L::params.size(); }) {
    return L::params;
  } else if constexpr (requires { L::params; }) {
    return fields<Param>(L::params);
  } else {
    return std::array<Param, 0>{};
  }
}

/// What the layer L keeps for backward, in an array.
template <class L>
constexpr auto saved_of() {
  if constexpr (requires { L::saved.size(); }) {
    return L::saved;
  } else if constexpr (requires { L::saved; }) {
    return fields<Keep>(L::saved);
  } else {
    return std::array<Keep, 0>{};
  }
}

/// The same array, as a constant that a Layer may point to.
template <class L>
inline constexpr auto param_list = params_of<L>();

struct Call;  // the operands of one layer call (context.hpp)

/// What a layer has of its own for one of its uses in a program, outside of the arena. It is made
/// with the trainer, and each rank has its own.
class LayerObject {
 public:
  virtual ~LayerObject() = default;
  virtual void forward(const Call&) = 0;   ///< computes y from x, as Call::pass says
  virtual void backward(const Call&) = 0;  ///< computes gradients from what forward has left here
};

/// A layer with its type erased. There is one for each distinct layer, however often it repeats.
struct Layer {
  std::span<const Param> params{};       ///< param_count of them
  std::array<Keep, max_fields> saved{};  ///< the first saved_count of them
  std::array<int, max_inputs> in{};      ///< widths of the operands; 0 is one id in each row
  std::array<int, max_outputs> out{};    ///< widths of the results
  int param_count = 0, saved_count = 0, inputs = 0, outputs = 0;  ///< how many there are of each
  int ids_below = 0;                                              ///< 0 if it takes any ids
  bool cheap = false;  ///< whether its results are worth recomputing rather than keeping
  /// Whether the gradient of each operand but ids is that of the one result, as of a sum. Where no one
  /// adds to it, the two may lie in one place, and backward is given no dx.
  bool passes_gradient = false;
  /// In training the forward of a loss is not called: its backward writes both the losses and the
  /// gradients (of loss_weight times their sum), so that nothing is computed twice.
  bool loss = false;
  bool pools = false;  ///< whether its results have one row for each sequence
  /// Whether it pools so that its result is the last row of each sequence, whatever the others are.
  bool takes_last = false;
  /// Whether it mixes rows of a sequence, and each sees itself and those before it alone.
  bool causal = false;
  /// Whether it mixes rows of a sequence, and each sees those behind it, too.
  bool bidirectional = false;
  bool reads_weights_in_backward = false;  ///< else it does without
  /// Whether it takes memory that is not planned, in an object for each of its uses. What forward
  /// leaves there for backward is made again where its unit is recomputed.
  bool unplanned = false;
  /// Of forward, for one row of the results. `other` is the context of the second operand's axis.
  std::int64_t (*flops)(std::int64_t context, std::int64_t other) = none;
  /// Elements of statistics that a call needs. `rows` are those of the first operand, `other` those
  /// of the second.
  std::int64_t (*scratch)(std::int64_t rows, std::int64_t other) = none;
  void (*forward)(const Call&) = nullptr;   ///< computes y from x, and fills saved
  void (*backward)(const Call&) = nullptr;  ///< null if the layer has none
  /// Makes the object of a use, if it is unplanned.
  std::unique_ptr<LayerObject> (*object)() = no_object;

  /// The role of the results: losses are statistics.
  constexpr Type result_type() const { return loss ? Type::statistic : Type::compute; }

 private:
  static constexpr std::int64_t none(std::int64_t, std::int64_t) { return 0; }
  static std::unique_ptr<LayerObject> no_object() { return nullptr; }
};

/// The operations that L states, for layers of one context and of two; 0 if it states none.
template <class L>
constexpr std::int64_t flops_of(std::int64_t context, std::int64_t other) {
  if constexpr (requires { L::flops(context, other); }) {
    return L::flops(context, other);
  } else if constexpr (requires { L::flops(context); }) {
    return L::flops(context);
  } else {
    return 0;
  }
}

/// The same for scratch, with the precision policy P.
template <class L, class P>
constexpr std::int64_t scratch_of(std::int64_t rows, std::int64_t other) {
  if constexpr (requires { L::template scratch<P>(rows, other); }) {
    return L::template scratch<P>(rows, other);
  } else if constexpr (requires { L::template scratch<P>(rows); }) {
    return L::template scratch<P>(rows);
  } else if constexpr (requires { L::scratch(rows, other); }) {
    return L::scratch(rows, other);
  } else if constexpr (requires { L::scratch(rows); }) {
    return L::scratch(rows);
  } else {
    return 0;
  }
}

/// What is known of the layer L without a precision; its functions are not set.
template <class L>
constexpr Layer describe_layer() {
  Layer layer;
  layer.params = param_list<L>;
  layer.param_count = int(layer.params.size());
  for (const Keep& keep : saved_of<L>()) layer.saved[layer.saved_count++] = keep;
  for (int width : L::in) layer.in[layer.inputs++] = width;
  for (int width : L::out) layer.out[layer.outputs++] = width;
  layer.reads_weights_in_backward = layer.param_count > 0;
  if constexpr (requires { L::cheap; }) layer.cheap = L::cheap;
  if constexpr (requires { L::passes_gradient; }) layer.passes_gradient = L::passes_gradient;
  if constexpr (requires { L::loss; }) layer.loss = L::loss;
  if constexpr (requires { L::pools; }) layer.pools = L::pools;
  if constexpr (requires { L::takes_last; }) layer.takes_last = L::takes_last;
  if constexpr (requires { L::causal; }) layer.causal = L::causal;
  if constexpr (requires { L::bidirectional; }) layer.bidirectional = L::bidirectional;
  if constexpr (requires { L::ids_below; }) layer.ids_below = L::ids_below;
  if constexpr (requires { L::unplanned; }) layer.unplanned = L::unplanned;
  layer.flops = flops_of<L>;
  if constexpr (requires { L::reads_weights_in_backward; }) {
    layer.reads_weights_in_backward = L::reads_weights_in_backward;
  }
  return layer;
}

}  // namespace sinter
