// SPDX-License-Identifier: Apache-2.0
// The facts that a layer states about itself, and its erased form, which the planner uses.
//
// A layer is an empty type:
//   in, out      the widths of its operands and results; 0 stands for an operand of integer ids
//   params       (optional) has one Param for each field of its aggregate Params
//   saved        (optional) has one Keep for each field of its aggregate Saved
//   forward(c)   and backward(c) compute on a Context c (context.hpp)
// A layer that allocates memory outside the plan has, instead of forward and backward,
//   object<P>()  makes the LayerObject of one of its uses, which computes; P is the precision
//                policy
//   unplanned    true
// Its params may be an array of any number of Param, and its saved one of at most four Keep.
// Any layer may state facts:
//   cached                       a Cached: what is kept of the rows of a text, for those that continue it
//   extend(c)                    computes forward for rows that continue texts; c.cache() has what is
//                                kept, and c.sequences() says how many rows come before. A layer that
//                                mixes rows generates text only if it has this (docs/add_a_layer.md)
//   cheap                        true if its results are worth recomputing rather than keeping
//   passes_gradient              true if dx is dy for each operand, see Layer::passes_gradient
//   loss                         true if its result is one loss for each row, see Layer::loss
//   cross_entropy                true if the loss obeys Context::loss_options(), see
//                                Layer::cross_entropy
//   pools                        true if its result has one row for each sequence
//   takes_last                   true if it pools by taking the last row, see Layer::takes_last
//   causal                       true if rows depend on none that follow them, see Layer::causal
//   bidirectional                true if rows depend also on rows that follow them
//   skips_padding                true if rows of padding are left out where rows are mixed, see
//                                Layer::skips_padding
//   reads_weights_in_backward    true if backward reads weights; by default, if it has parameters
//   ids_below                    ids must be below this
//   fan_in_fan_out               with an adapter: true if the weight is stored as in × out
//   untrained_flops              operations of flops() with weights that are never trained
//   flops(context)               operations of forward for one row of a result, in a sequence of
//                                `context` rows; or flops(context, other), with `other` rows of
//                                that sequence on the axis of the second operand
//   scratch(rows)                elements of the statistic type that a layer call needs as scratch,
//                                for `rows` rows of the first operand; or scratch(rows, other),
//                                `other` rows of the second; or scratch<P>(rows) or
//                                scratch<P>(rows, other), P the precision policy
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "sinter/base/element.hpp"

namespace sinter {

/// The purpose of a number. The precision policy chooses a C++ type for each: Bf16 takes BFloat16
/// for compute (weights and activations) and float for master (weights that the optimizer updates).
enum class Type : std::uint8_t { compute, statistic, gradient, master, state, index };

/// The initial values of a parameter, such as Init::normal(.02f).
struct Init {
  /// The distribution of initial values.
  enum class How : std::uint8_t { zeros, ones, normal, uniform };
  How how = How::zeros;  ///< their distribution
  float scale = 0;       ///< normal: the deviation, around 0; uniform: numbers lie within ±scale

  static const Init zeros;  ///< all 0
  static const Init ones;   ///< all 1
  /// Values from the normal distribution around 0.
  static constexpr Init normal(float deviation) { return {How::normal, deviation}; }
  /// Values from the uniform distribution on [-bound, bound].
  static constexpr Init uniform(float bound) { return {How::uniform, bound}; }
};
inline constexpr Init Init::zeros{};
inline constexpr Init Init::ones{Init::How::ones};

/// How a matrix is stored in blocks of int8 (kernel::Int8Matrix).
struct Int8Storage {
  std::int64_t elements = 0;  ///< of the compute type, that take up the blocks; 0: not in int8
  int group = 0;              ///< numbers that share a scale
  bool transposes = false;    ///< true if the blocks hold the transpose of the matrix in files

  /// True if the matrix is stored in int8.
  constexpr explicit operator bool() const { return elements > 0; }
};

/// A parameter, with the name and shape that it has in the architecture's files.
struct Param {
  /// The most dimensions that a parameter has in files.
  static constexpr int max_dimensions = 4;

  const char* name;   ///< such as "weight"; in files, the unit's and node's names precede it
  int rows, columns;  ///< as in files; a vector has one row
  Init init;          ///< how it starts
  bool decays;        ///< true if weight decay acts on it, false for vectors (biases, norms)
  int padding = 0;    ///< rows of zeros behind it in flat buffers; files do not contain them
  int fan_in = 0, fan_out = 0;  ///< features of a hidden() matrix, however it is stored; else 0
  /// Shape in files, followed by zeros, if that is not rows × columns.
  std::array<int, max_dimensions> dimensions{};
  /// True if forward itself changes it in training; see running().
  bool is_running = false;
  /// True if it is a part of an adapter, and so is trained where the layer's other parameters stay.
  bool is_adapter = false;
  Int8Storage int8{};  ///< how it is stored, if in int8

  /// Elements in files.
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  /// Elements in flat buffers, padding included.
  constexpr std::int64_t stored() const {
    return int8 ? int8.elements : std::int64_t(rows + padding) * columns;
  }

  /// A matrix of this name and shape.
  static constexpr Param matrix(const char* name, int rows, int columns, Init init,
                                int padding = 0) {
    return {name, rows, columns, init, true, padding};
  }
  /// A vector of this name and size.
  static constexpr Param vector(const char* name, int size, Init init) {
    return {name, 1, size, init, false};
  }
  /// A tensor of this name with more than two dimensions, such as the weight of a convolution.
  /// Outside files it is a matrix with a row for each index of the first dimension.
  template <std::size_t N>
    requires(N > 2 && N <= std::size_t(max_dimensions))
  static constexpr Param tensor(const char* name, const int (&dimensions)[N], Init init) {
    int columns = 1;
    for (std::size_t d = 1; d < N; ++d) columns *= dimensions[d];
    Param param = matrix(name, dimensions[0], columns, init);
    for (std::size_t d = 0; d < N; ++d) param.dimensions[d] = dimensions[d];
    return param;
  }
  /// Running values of this name and shape, such as the running mean of a batch norm. Forward
  /// changes them in training, not an optimizer: they have no gradient and no decay. Files hold
  /// them as they are after the last applied step.
  template <std::size_t N>
    requires(N <= std::size_t(max_dimensions))
  static constexpr Param running(const char* name, const int (&dimensions)[N], Init init) {
    int size = 1;
    for (int d : dimensions) size *= d;
    Param param = running(name, init);
    param.columns = size;
    for (std::size_t d = 0; d < N; ++d) param.dimensions[d] = dimensions[d];
    return param;
  }
  /// A single running value, which has no dimension in files.
  static constexpr Param running(const char* name, Init init) {
    Param param = vector(name, 1, init);
    param.is_running = true;
    return param;
  }
  /// This parameter, marked as a part of an adapter.
  constexpr Param of_adapter() const {
    Param param = *this;
    param.is_adapter = true;
    return param;
  }
  /// This matrix, marked as an inner one, from `in` features to `out`, for optimizers such as Muon:
  /// it is no embedding, and belongs neither to the first nor to the last layer of a model.
  constexpr Param hidden(int in, int out) const {
    Param param = *this;
    param.fan_in = in;
    param.fan_out = out;
    return param;
  }
};

/// One thing that forward leaves for backward: an operand, a result, or numbers of the layer's own.
/// Operands and results take no extra memory, but live longer.
struct Keep {
  /// What is kept: an operand, a result, or numbers of the layer's own.
  enum class Kind : std::uint8_t { input, output, own };
  Kind kind;                  ///< what is kept
  int which = 0;              ///< index of the operand or result
  int width = 0;              ///< for `own`: numbers for each row
  Type type = Type::compute;  ///< for `own`: their type

  /// Keeps operand number `which` until the backward pass.
  static constexpr Keep input(int which = 0) { return {Kind::input, which}; }
  /// Keeps result number `which` until the backward pass.
  static constexpr Keep output(int which = 0) { return {Kind::output, which}; }
  /// Keeps `width` numbers of the layer's own for each row, in the compute type.
  static constexpr Keep own(int width) { return {Kind::own, 0, width}; }
  /// Keeps `width` statistics for each row, such as means or log-sum-exp, in the statistic type.
  static constexpr Keep statistic(int width = 1) { return {Kind::own, 0, width, Type::statistic}; }
};

/// What a layer keeps of the rows of texts that it continues: its part of a key-value cache.
struct Cached {
  int width;        ///< numbers for each row, in the compute type
  int window = 0;   ///< the most rows that are read, a row itself included; 0: all of the text
  int operand = 0;  ///< the operand whose rows they are of
};

struct Call;  // the operands of one layer call (context.hpp)

/// Computes one use of an unplanned layer in a program, with memory of its own outside the arena.
/// Made with the trainer; each rank has its own.
class LayerObject {
 public:
  virtual ~LayerObject() = default;
  virtual void forward(const Call&) = 0;   ///< computes y from x, for the purpose of Call::pass
  virtual void backward(const Call&) = 0;  ///< computes gradients from what forward left in it
};

namespace detail {
inline constexpr int types = 6;  ///< number of enumerators of Type

/// An axis is a set of rows. Axes 0 and 1 have one for each token, such as of a reply and of a
/// text; axis a + 2 has one for each sequence of axis a.
inline constexpr int token_axes = 2, axes = 4;

/// The most operands, results, and fields of Params and of Saved that a layer has. (An array in
/// place of Params has any number.)
inline constexpr int max_inputs = 4, max_outputs = 3, max_fields = 4;

/// An array of the fields of an aggregate whose fields are all of type T.
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

/// params_of<L>() as a constant that a Layer may point to.
template <class L>
inline constexpr auto param_list = params_of<L>();

/// A layer with its type erased. There is one for each distinct layer, however often it repeats.
struct Layer {
  std::span<const Param> params{};       ///< parameters, param_count in number
  std::array<Keep, max_fields> saved{};  ///< what backward reads; saved_count are in use
  std::array<int, max_inputs> in{};      ///< widths of the operands; 0 is one id in each row
  std::array<int, max_outputs> out{};    ///< widths of the results
  int param_count = 0, saved_count = 0, inputs = 0, outputs = 0;  ///< number of each
  int ids_below = 0;                                              ///< 0 if it accepts any ids
  bool cheap = false;  ///< true if its results are worth recomputing rather than keeping
  /// True if the gradient of each operand but ids equals that of the only result, as in a sum. If
  /// nothing else adds to it, both may share memory, and backward gets no dx.
  bool passes_gradient = false;
  /// True if the result is one loss for each row. In training only backward is called, which writes
  /// the losses and the gradients of loss_weight times their sum: nothing is computed twice.
  bool loss = false;
  /// True if it is the cross-entropy of its second operand, one id in each row, and obeys
  /// Context::loss_options().
  bool cross_entropy = false;
  bool pools = false;  ///< true if its results have one row for each sequence
  /// True if its result is the last row of each sequence, whatever the other rows are.
  bool takes_last = false;
  /// True if it mixes rows of a sequence, and each depends only on itself and those before it.
  bool causal = false;
  /// True if it mixes rows of a sequence, and each depends also on those behind it.
  bool bidirectional = false;
  /// True if no row of its results depends on padding (Sequences::lengths), except those of padding
  /// itself, and if the gradients of padding that nothing else reads are zero.
  bool skips_padding = false;
  bool reads_weights_in_backward = false;  ///< true if backward reads the weights
  /// True if it allocates memory outside the plan, in a LayerObject for each of its uses. If its
  /// unit is recomputed, forward makes again what it leaves in the object for backward.
  bool unplanned = false;
  Cached cached{};  ///< width 0 if it keeps nothing of earlier rows
  /// Operations of forward for one row of results; `other`: context of the second operand's axis.
  std::int64_t (*flops)(std::int64_t context, std::int64_t other) = none;
  /// With an adapter: true if the weight is stored as in × out, else as out × in.
  bool fan_in_fan_out = false;
  /// Operations among flops() that are products with weights which are never trained.
  std::int64_t untrained_flops = 0;
  /// Elements of the statistic type that a call needs as scratch, for `rows` rows of the first
  /// operand and `other` rows of the second.
  std::int64_t (*scratch)(std::int64_t rows, std::int64_t other) = none;
  void (*forward)(const Call&) = nullptr;   ///< computes y from x, and fills saved
  void (*backward)(const Call&) = nullptr;  ///< null if the layer has none
  bool extends = false;  ///< true if it says how it computes rows that continue texts
  /// Computes forward for rows that continue texts; null if the layer does not say how.
  void (*extend)(const Call&) = nullptr;
  /// Makes the object of one use, if the layer is unplanned.
  std::unique_ptr<LayerObject> (*object)() = no_object;

  /// The role of the results: statistic for losses, else compute.
  constexpr Type result_type() const { return loss ? Type::statistic : Type::compute; }

 private:
  static constexpr std::int64_t none(std::int64_t, std::int64_t) { return 0; }
  static std::unique_ptr<LayerObject> no_object() { return nullptr; }
};

/// The operations that L states by flops(context) or flops(context, other); 0 if it states none.
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

/// The scratch elements that L states with the precision policy P; 0 if it states none.
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

/// Describes the layer L without a precision: scratch, forward, backward and object are not set.
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
  if constexpr (requires { L::cross_entropy; }) layer.cross_entropy = L::cross_entropy;
  if constexpr (requires { L::pools; }) layer.pools = L::pools;
  if constexpr (requires { L::takes_last; }) layer.takes_last = L::takes_last;
  if constexpr (requires { L::causal; }) layer.causal = L::causal;
  if constexpr (requires { L::bidirectional; }) layer.bidirectional = L::bidirectional;
  if constexpr (requires { L::skips_padding; }) layer.skips_padding = L::skips_padding;
  if constexpr (requires { L::ids_below; }) layer.ids_below = L::ids_below;
  if constexpr (requires { L::cached; }) layer.cached = L::cached;
  if constexpr (requires { L::unplanned; }) layer.unplanned = L::unplanned;
  if constexpr (requires { L::fan_in_fan_out; }) layer.fan_in_fan_out = L::fan_in_fan_out;
  if constexpr (requires { L::untrained_flops; }) layer.untrained_flops = L::untrained_flops;
  layer.flops = flops_of<L>;
  if constexpr (requires { L::reads_weights_in_backward; }) {
    layer.reads_weights_in_backward = L::reads_weights_in_backward;
  }
  return layer;
}
}  // namespace detail

/// The axis with one row for each sequence of `axis`.
constexpr int pooled(int axis) { return axis + detail::token_axes; }

}  // namespace sinter
