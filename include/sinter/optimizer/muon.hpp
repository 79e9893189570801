// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "sinter/kernels/adamw.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/optimizer/rules.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/regions.hpp"

namespace sinter {

/// Options of Muon. Those up to `iterations` are for hidden matrices, the others are AdamW's for
/// all other parameters. Both rates follow the schedule.
struct MuonOptions {
  double lr = 2e-2;           ///< learning rate of hidden matrices, before the schedule
  double momentum = 0.95;     ///< decay rate of the average of gradients
  double weight_decay = 0.1;  ///< decoupled
  bool nesterov = true;       ///< true if a step mixes the gradient into the average once more
  bool rounded = false;       ///< true if inputs of products are rounded; see MatmulInputs
  int iterations = 5;         ///< number of Newton-Schulz iterations
  double adamw_lr = 1e-3;     ///< learning rate of all other parameters, before the schedule
  double beta1 = 0.9;         ///< decay rate of their first moment
  double beta2 = 0.999;       ///< decay rate of their second moment
  double eps = 1e-8;          ///< added to the root of their second moment
  double adamw_weight_decay = AdamWOptions{}.weight_decay;  ///< decoupled; matrices only
  SINTER_FIELDS((lr).at_least(0).adjustable(), (momentum).at_least(0).below(1).adjustable(),
                (weight_decay).at_least(0).adjustable(), (nesterov), (rounded),
                (iterations).at_least(1), (adamw_lr).at_least(0).adjustable(),
                (beta1).at_least(0).below(1).adjustable(),
                (beta2).at_least(0).below(1).adjustable(), (eps).above(0).adjustable(),
                (adamw_weight_decay).at_least(0).adjustable())
};

namespace detail {
/// True if parameter `number` of a layer is updated by Muon's iteration, false if by AdamW.
constexpr bool is_hidden_matrix(const Layer& layer, int number) {
  return layer.params[number].fan_out > 0;
}

/// A rule of the model: it has a hidden matrix.
struct HasHiddenMatrix {
  static constexpr std::string_view reason = "Muon finds no hidden matrix in the model";
  static constexpr bool holds(const Model& model) {
    bool found = false;
    for_each_parameter(
        model, [&](int, int n, int p) { found |= is_hidden_matrix(*model.nodes[n].layer, p); });
    return found;
  }
  template <class R>
  static auto enforce() {
    static_assert(
        sizeof(R) == 0,
        "Muon: the model of this recipe has no hidden matrix. Why: all of it would get "
        "AdamW, and Muon's own rate nothing to do. Fix: use AdamW, or a model with layers "
        "between the first and the last; a layer of your own says Param::hidden of its matrix.");
  }
};
}  // namespace detail

/// Muon: momentum orthogonalised by the Newton-Schulz iteration (Jordan et al. 2024), with the
/// arithmetic of torch.optim.Muon in fp32. For a hidden matrix (Param::hidden), in
/// either layout:
///   b = lerp(b, g, 1 - momentum); u = lerp(g, b, momentum), or b without nesterov
///   p = (1 - lr weight_decay) p - lr √max(1, fan_out / fan_in) orthogonal(u).
/// All other parameters get AdamW: embeddings, heads (tied or not), biases and norms, each Linear
/// with `.hidden = false` (Mlp's first and last), and matrices of your own layers without
/// Param::hidden. A fused matrix, such as GPT-2's q, k and v, is one matrix. The state is one
/// number per parameter of a hidden matrix, two per other parameter.
template <MuonOptions O = {}>
struct Muon {
  using slot = slot::optimizer;
  using Options = MuonOptions;
  using rules = RuleList<detail::MastersAreFloat, detail::NotClippedByValue>;
  using model_rules = RuleList<detail::HasHiddenMatrix>;
  static constexpr Options options = O;
  static constexpr bool by_parameter = true;

  /// The shape of momentum_buffer; empty for parameters that are not hidden matrices.
  static constexpr detail::StateShape of_matrices(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, detail::is_hidden_matrix(layer, number) ? p.rows : 0, p.columns};
  }
  /// The shape of exp_avg and exp_avg_sq; empty for hidden matrices.
  static constexpr detail::StateShape of_others(const detail::Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, detail::is_hidden_matrix(layer, number) ? 0 : p.rows, p.columns};
  }
  static constexpr std::array regions{Region{"momentum_buffer", Type::state, nullptr, of_matrices},
                                      Region{"exp_avg", Type::state, nullptr, of_others},
                                      Region{"exp_avg_sq", Type::state, nullptr, of_others}};

  /// Bytes of workspace; for a hidden matrix twice its size, plus twice its smaller side squared.
  static constexpr std::int64_t workspace(const detail::Layer& layer, int number) {
    if (!detail::is_hidden_matrix(layer, number)) return 0;
    const Param& p = layer.params[number];
    const std::int64_t size = detail::padded(p.size()), small = std::min(p.rows, p.columns);
    return std::int64_t(sizeof(float)) * (2 * size + 2 * detail::padded(small * small));
  }

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    if (detail::is_hidden_matrix(s.layer, s.number)) return update_matrix(o, s);
    const AdamWOptions others{o.adamw_lr, o.beta1, o.beta2, o.eps, o.adamw_weight_decay};
    auto span = s.with_state({1, 2});
    span.learning_rate = others.lr * s.rate_factor;
    kernel::adamw(others, span);
  }

 private:
  static void update_matrix(const Options& o, const auto& s) {
    auto* direction = s.template scratch<float>();
    float* buffer = s.template part<float>(0);
    const auto keep = float(o.momentum);
    kernel::scale_gradient(s.stream, s.gradient, 1 - o.momentum, s.decision, direction, s.size);
    kernel::scale(s.stream, buffer, keep, buffer, s.size);
    kernel::accumulate(s.stream, direction, buffer, s.size);
    if (o.nesterov) {
      float* kept = direction + detail::padded(s.size);
      kernel::scale(s.stream, buffer, keep, kept, s.size);
      kernel::accumulate(s.stream, kept, direction, s.size);
    } else {
      kernel::copy(s.stream, buffer, direction, s.size);
    }
    float* orthogonal = orthogonalise(o, s, direction);
    const Param& p = s.layer.params[s.number];
    const double rate =
        s.learning_rate * std::sqrt(std::max(1.0, double(p.fan_out) / double(p.fan_in)));
    if (s.decayed)
      kernel::scale(s.stream, s.master, float(1 - s.learning_rate * o.weight_decay), s.master,
                    s.size);
    kernel::scale(s.stream, orthogonal, float(-rate), orthogonal, s.size);
    kernel::accumulate(s.stream, orthogonal, s.master, s.size);
  }

  /// Repeats x = a x + (b g + c g²) x, g = x xᵀ (of the smaller side), o.iterations times from x /
  /// |x|. Returns the result. Products at most round their inputs, whereas
  /// torch.optim.Muon keeps everything in bfloat16.
  static float* orthogonalise(const Options& o, const auto& s, float* x) {
    constexpr float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    const bool wide = s.rows <= s.columns;
    const int n = std::min(s.rows, s.columns);
    const std::int64_t size = detail::padded(s.size), square = std::int64_t(n) * n;
    float *y = x + size, *gram = y + size, *polynomial = gram + detail::padded(square);
    kernel::scale_to_unit_norm(s.stream, x, s.size, 1e-7);
    const auto inputs = o.rounded ? kernel::MatmulInputs::rounded : s.stream.matmul_inputs();
    kernel::Stream stream(s.stream, inputs);
    const auto small = [n](float* data) { return kernel::Tensor(data, n, n); };
    for (int k = 0; k < o.iterations; ++k) {
      const kernel::Tensor whole(x, s.rows, s.columns);
      const kernel::Matrix matrix = whole, turned = transposed(whole);
      kernel::matmul(stream, wide ? matrix : turned, wide ? turned : matrix, small(gram));
      kernel::matmul(stream, small(gram), small(gram), small(polynomial));
      kernel::scale(s.stream, polynomial, c, polynomial, square);
      kernel::scale(s.stream, gram, b, gram, square);
      kernel::accumulate(s.stream, gram, polynomial, square);
      kernel::scale(s.stream, x, a, y, s.size);
      const kernel::Tensor next(y, s.rows, s.columns, true);
      if (wide) {
        kernel::matmul(stream, small(polynomial), matrix, next);
      } else {
        kernel::matmul(stream, matrix, small(polynomial), next);
      }
      std::swap(x, y);
    }
    return x;
  }
};

}  // namespace sinter
