// SPDX-License-Identifier: Apache-2.0
// Layers whose matrices lie in blocks of int8 (kernels/int8.hpp), for models that are not trained:
// none has a backward. Each has the parameters of the layer that it stands for, under the same names
// in files.
#pragma once
#include "sinter/kernels/int8.hpp"
#include "sinter/layer/embedding.hpp"
#include "sinter/layer/head.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"

namespace sinter::detail {

/// `param`, stored as rows × columns numbers in int8. transposes: true if files hold columns × rows.
template <int Group, int ElementBytes>
constexpr Param in_int8(Param param, int rows, int columns, bool transposes = false) {
  param.padding = 0;
  param.int8 = {kernel::int8_bytes(rows, columns, Group) / ElementBytes, Group, transposes};
  return param;
}

/// The matrix of a layer call, of Rows × Columns numbers.
template <int Rows, int Columns, int Group>
kernel::Int8Matrix<const std::byte> int8_matrix(auto weight) {
  return {reinterpret_cast<const std::byte*>(weight.data), Rows, Columns, Group};
}

/// y = x Wᵀ + bias, or without, for a layer whose scratch() is int8_scratch() or begins with it.
template <int Rows, int Columns, int Group>
void int8_product(auto& c, auto x, auto bias, auto y) {
  using T = std::remove_pointer_t<decltype(x.data)>;
  kernel::int8_matmul<T>(c.stream(), x, int8_matrix<Rows, Columns, Group>(c.weights.weight), bias,
                         y, reinterpret_cast<std::byte*>(c.scratch()));
}
/// The bias of a layer over a vocabulary, or an empty tensor.
auto int8_bias(auto& c) {
  if constexpr (requires { c.weights.bias; }) {
    return c.weights.bias;
  } else {
    return decltype(c.weights.weight){};
  }
}
/// The scratch of a product, in elements of P's statistic type.
template <class P, int Columns, int Group>
constexpr std::int64_t int8_scratch(std::int64_t rows) {
  return kernel::int8_scratch_bytes(rows, Columns, Group) /
         std::int64_t(sizeof(typename P::statistic));
}

/// Linear<In, Out, O>.
template <int In, int Out, LinearOptions O, int Group, int ElementBytes>
struct Int8Linear {
  using Plain = Linear<In, Out, O>;
  static constexpr std::array in{In};
  static constexpr std::array out{Out};
  template <class T>
  using Params = typename Plain::template Params<T>;
  static constexpr Params<Param> params = LinearParams<O.has_bias>::params_of(
      in_int8<Group, ElementBytes>(Plain::stored, Out, In, Plain::as_is),
      Param::vector("bias", Out, O.bias));
  static constexpr std::int64_t flops(std::int64_t rows) { return Plain::flops(rows); }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return int8_scratch<P, In, Group>(rows);
  }
  static void forward(auto& c) {
    int8_product<Out, In, Group>(c, c.x(), LinearParams<O.has_bias>::bias(c.weights), c.y());
  }
};

/// Embedding<Vocabulary, W>.
template <int Vocabulary, int W, int Group, int ElementBytes>
struct Int8Embedding {
  static constexpr std::array in{0};
  static constexpr std::array out{W};
  static constexpr int ids_below = Vocabulary;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{
      in_int8<Group, ElementBytes>(Embedding<Vocabulary, W>::params.weight, Vocabulary, W)};
  static void forward(auto& c) {
    kernel::int8_embedding(c.stream(), c.ids(), int8_matrix<Vocabulary, W, Group>(c.weights.weight),
                           c.y());
  }
};

/// The parameters of a layer over a vocabulary, with its table in int8.
template <class Plain, int Vocabulary, int W, int Group, int ElementBytes>
constexpr auto int8_params = [] {
  auto all = Plain::params;
  all.weight = in_int8<Group, ElementBytes>(all.weight, Vocabulary, W);
  return all;
}();

/// Plain, which is a head over a vocabulary, with a bias or without: Unembedding<Vocabulary, W> or
/// UnembeddingBias<Vocabulary, W>, perhaps with another name of its bias.
template <class Plain, int Vocabulary, int W, int Group, int ElementBytes>
struct Int8Head {
  static constexpr std::array in{W};
  static constexpr std::array out{Vocabulary};
  template <class T>
  using Params = typename Plain::template Params<T>;
  static constexpr Params<Param> params = int8_params<Plain, Vocabulary, W, Group, ElementBytes>;
  static constexpr std::int64_t flops(std::int64_t rows) { return Plain::flops(rows); }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return int8_scratch<P, W, Group>(rows);
  }
  static void forward(auto& c) {
    int8_product<Vocabulary, W, Group>(c, c.x(), int8_bias(c), c.y());
  }
};

/// The loss Plain, which is LinearCrossEntropy<Vocabulary, W, …> or LinearBiasCrossEntropy<Vocabulary,
/// W>, perhaps with another name of its bias. Logits have the type of losses.
template <class Plain, int Vocabulary, int W, int Group, int ElementBytes>
struct Int8Loss {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true, cross_entropy = true;
  static constexpr int ids_below = Vocabulary;
  template <class T>
  using Params = typename Plain::template Params<T>;
  static constexpr Params<Param> params = int8_params<Plain, Vocabulary, W, Group, ElementBytes>;
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    const std::int64_t chunk = chunk_of(rows);
    return int8_scratch<P, W, Group>(chunk) + chunk * Vocabulary;
  }
  static void forward(auto& c) {
    using Precision = typename std::remove_cvref_t<decltype(c)>::precision;
    const auto x = c.x();
    const auto ids = c.ids(1);
    const auto y = c.y();
    for (int first = 0; first < x.rows; first += chunk_of(x.rows)) {
      const int rows = std::min(chunk_of(x.rows), x.rows - first);
      const Tensor logits(c.scratch() + int8_scratch<Precision, W, Group>(rows), rows, Vocabulary);
      int8_product<Vocabulary, W, Group>(c, rows_of(x, first, rows), int8_bias(c), logits);
      kernel::cross_entropy(c.stream(), logits, rows_of(ids, first, rows), rows_of(y, first, rows),
                            std::remove_const_t<decltype(logits)>{}, 0.0, c.loss_options());
    }
  }

 private:
  /// Rows whose logits are computed at once.
  static constexpr int chunk_of(std::int64_t rows) {
    return LinearCrossEntropy<Vocabulary, W>::chunk(rows);
  }
  template <class T>
  static Tensor<T> rows_of(const Tensor<T>& all, int first, int rows) {
    return {all.data + std::int64_t(first) * all.columns, rows, all.columns};
  }
};

/// The layer that stands for L with matrices in int8: L itself if it has none that fit.
template <class L, int Group, int ElementBytes>
struct Int8Of : std::type_identity<L> {};
template <int In, int Out, LinearOptions O, int Group, int ElementBytes>
  requires(In % Group == 0)
struct Int8Of<Linear<In, Out, O>, Group, ElementBytes>
    : std::type_identity<Int8Linear<In, Out, O, Group, ElementBytes>> {};
template <int Vocabulary, int W, int Padding, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<Embedding<Vocabulary, W, Padding>, Group, ElementBytes>
    : std::type_identity<Int8Embedding<Vocabulary, W, Group, ElementBytes>> {};
template <int Vocabulary, int W, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<Unembedding<Vocabulary, W>, Group, ElementBytes>
    : std::type_identity<Int8Head<Unembedding<Vocabulary, W>, Vocabulary, W, Group, ElementBytes>> {
};
template <int Vocabulary, int W, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<UnembeddingBias<Vocabulary, W>, Group, ElementBytes>
    : std::type_identity<
          Int8Head<UnembeddingBias<Vocabulary, W>, Vocabulary, W, Group, ElementBytes>> {};
template <int Vocabulary, int W, int Padding, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<LinearCrossEntropy<Vocabulary, W, Padding>, Group, ElementBytes>
    : std::type_identity<Int8Loss<LinearCrossEntropy<Vocabulary, W, Padding>, Vocabulary, W, Group,
                                  ElementBytes>> {};
template <int Vocabulary, int W, int Group, int ElementBytes>
  requires(W % Group == 0)
struct Int8Of<LinearBiasCrossEntropy<Vocabulary, W>, Group, ElementBytes>
    : std::type_identity<
          Int8Loss<LinearBiasCrossEntropy<Vocabulary, W>, Vocabulary, W, Group, ElementBytes>> {};

}  // namespace sinter::detail
