#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "../concepts.hpp"
#include "../kernels/elementwise.hpp"
#include "../kernels/matmul.hpp"
#include "../kernels/norm.hpp"
#include "adamw.hpp"
#include "rules.hpp"

namespace sinter {

/// lr, momentum, weight_decay and iterations: of matrices inside the model. adamw_lr, beta1, beta2
/// and eps: of all other parameters. Both rates follow the schedule.
struct MuonOptions {
  double lr = 2e-2, momentum = 0.95, weight_decay = 0.1;
  bool nesterov = true;
  int iterations = 5;
  double adamw_lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
};

/// Momentum, orthogonalised by Newton and Schulz' iteration (Jordan et al. 2024), the arithmetic of
/// torch.optim.Muon in fp32: matrices that a matmul inside the model multiplies with get
///   b = lerp(b, g, 1 - momentum); u = lerp(g, b, momentum) (without nesterov: b)
///   p = (1 - lr weight_decay) p - lr √max(1, rows / columns) orthogonal(u),
/// and embeddings, heads, biases and norms get AdamW. A fused matrix, as GPT-2's of q, k and v, is
/// taken as one. State: one number for each parameter of the former kind, two for the latter.
template <MuonOptions O = {}>
struct Muon {
  using slot = slot::optimizer;
  using Options = MuonOptions;
  using rules = RuleList<MastersAreFloat, NotClippedByValue>;
  static constexpr Options options = O;
  static constexpr std::array ranges{Range("lr").above(0),
                                     Range("momentum").at_least(0).below(1),
                                     Range("weight_decay").at_least(0),
                                     Range("iterations").at_least(1),
                                     Range("adamw_lr").at_least(0),
                                     Range("beta1").at_least(0).below(1),
                                     Range("beta2").at_least(0).below(1),
                                     Range("eps").above(0)};
  static constexpr std::array<std::string_view, 7> adjustable{
      "lr", "momentum", "weight_decay", "adamw_lr", "beta1", "beta2", "eps"};
  static constexpr bool by_parameter = true;

  /// Whether a parameter is a matrix inside the model, neither embedding nor head.
  static constexpr bool orthogonalises(const Layer& layer, int number) {
    return layer.params[number].matrix && layer.flops && layer.ids_below == 0;
  }
  static constexpr StateShape of_matrices(const Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, orthogonalises(layer, number) ? p.rows : 0, p.columns};
  }
  static constexpr StateShape of_others(const Layer& layer, int number) {
    const Param& p = layer.params[number];
    return {Element::f32, orthogonalises(layer, number) ? 0 : p.rows, p.columns};
  }
  static constexpr std::array regions{Region{"momentum_buffer", Type::state, nullptr, of_matrices},
                                      Region{"exp_avg", Type::state, nullptr, of_others},
                                      Region{"exp_avg_sq", Type::state, nullptr, of_others}};

  /// Twice the matrix, and twice the square of its smaller side.
  static constexpr std::int64_t workspace(const Param& p) {
    const std::int64_t size = padded(p.size()), small = std::min(p.rows, p.columns);
    return p.matrix ? std::int64_t(sizeof(float)) * (2 * size + 2 * padded(small * small)) : 0;
  }

  static constexpr double learning_rate(const Options& o) { return o.lr; }
  static void update(const Options& o, const auto& s) {
    if (orthogonalises(s.layer, s.number)) return update_matrix(o, s);
    kernel::AdamWStep step = adamw_step(o, s);
    step.lr *= o.adamw_lr / o.lr;
    kernel::adamw(s.stream, s.master, s.gradient, state(s, 1), state(s, 2), s.copy, s.size, step);
  }

 private:
  static float* state(const auto& s, int region) {
    return reinterpret_cast<float*>(s.parts[region]);
  }

  static void update_matrix(const Options& o, const auto& s) {
    auto* direction = reinterpret_cast<float*>(s.workspace);
    float* buffer = state(s, 0);
    const auto keep = float(o.momentum);
    kernel::scale(s.stream, s.gradient, float((1 - o.momentum) * s.gradient_scale), direction,
                  s.size);
    kernel::scale(s.stream, buffer, keep, buffer, s.size);
    kernel::accumulate(s.stream, direction, buffer, s.size);
    if (o.nesterov) {
      float* kept = direction + padded(s.size);
      kernel::scale(s.stream, buffer, keep, kept, s.size);
      kernel::accumulate(s.stream, kept, direction, s.size);
    } else {
      kernel::copy(s.stream, buffer, direction, s.size);
    }
    float* orthogonal = orthogonalise(o, s, direction);
    const double rate =
        s.learning_rate * std::sqrt(std::max(1.0, double(s.rows) / double(s.columns)));
    if (s.decayed)
      kernel::scale(s.stream, s.master, float(1 - s.learning_rate * o.weight_decay), s.master,
                    s.size);
    kernel::scale(s.stream, orthogonal, float(-rate), orthogonal, s.size);
    kernel::accumulate(s.stream, orthogonal, s.master, s.size);
  }

  /// Five steps of x = a x + (b g + c g²) x, g = x xᵀ (of the smaller side), from x / |x|. Returns
  /// where the result is.
  static float* orthogonalise(const Options& o, const auto& s, float* x) {
    constexpr float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    const bool wide = s.rows <= s.columns;
    const int n = std::min(s.rows, s.columns);
    const std::int64_t size = padded(s.size), square = std::int64_t(n) * n;
    float *y = x + size, *gram = y + size, *polynomial = gram + padded(square);
    const double norm = std::sqrt(kernel::sum_of_squares(s.stream, x, s.size));
    kernel::scale(s.stream, x, float(1 / std::max(norm, 1e-7)), x, s.size);
    const auto small = [n](float* data) { return kernel::dense(data, n, n); };
    for (int k = 0; k < o.iterations; ++k) {
      const auto matrix = kernel::dense(x, s.rows, s.columns);
      auto turned = matrix;
      turned.transposed = true;
      kernel::matmul(s.stream, wide ? matrix : turned, wide ? turned : matrix, small(gram), false);
      kernel::matmul(s.stream, small(gram), small(gram), small(polynomial), false);
      kernel::scale(s.stream, polynomial, c, polynomial, square);
      kernel::scale(s.stream, gram, b, gram, square);
      kernel::accumulate(s.stream, gram, polynomial, square);
      kernel::scale(s.stream, x, a, y, s.size);
      const auto next = kernel::dense(y, s.rows, s.columns);
      if (wide) {
        kernel::matmul(s.stream, small(polynomial), matrix, next, true);
      } else {
        kernel::matmul(s.stream, matrix, small(polynomial), next, true);
      }
      std::swap(x, y);
    }
    return x;
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::MuonOptions, lr, momentum, weight_decay, nesterov, iterations,
                        adamw_lr, beta1, beta2, eps);
