// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adafactor.hpp"

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/targets.hpp"
#include "kernels/optimizer_step.hpp"
#include "sinter/kernels/norm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/adafactor.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/row_sum-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_ADAFACTOR_TABLE
#define SINTER_ADAFACTOR_TABLE
namespace sinter::kernel {
namespace {

/// What does not change within a tensor.
struct AdafactorConstants {
  float scale, eps, beta1, rest1, beta2, rest2;
};

/// A range of elements whose update is gradient · row · factors, or gradient · row / √squares.
template <class C>
struct AdafactorRange {
  float* master;
  const float* gradient;
  float* mean;
  C* copy;
  const float* factors;
  float row;
  int n;
};

/// What each instruction set provides, on one row or a part of a vector.
template <class C>
struct AdafactorTable {
  /// Returns Σ s, and adds s to `sums`.
  float (*squares)(const float* gradient, float* sums, int n, const AdafactorConstants&);
  /// square = its moving average with s; returns Σ g² / square.
  float (*vector_squares)(const float* gradient, float* square, int n, const AdafactorConstants&);
  /// Returns Σ (g factors)².
  float (*update_squares)(const float* gradient, const float* factors, int n,
                          const AdafactorConstants&);
  /// p = decay p - u.
  void (*apply)(const AdafactorRange<C>&, bool root, float decay, const AdafactorConstants&);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> inverse_root(D d, hn::Vec<D> x) {
  return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x));
}

float squares(const float* gradient, float* sums, int n, const AdafactorConstants& c) {
  return row_sum<float>(n, [=, scale = c.scale, eps = c.eps](auto d, int i) HWY_ATTR {
    const auto g = hn::Mul(load(d, gradient + i), hn::Set(d, scale));
    const auto s = hn::MulAdd(g, g, hn::Set(d, eps));
    store(hn::Add(load(d, sums + i), s), d, sums + i);
    return s;
  });
}

float vector_squares(const float* gradient, float* square, int n, const AdafactorConstants& c) {
  return row_sum<float>(n, [=](auto d, int i) HWY_ATTR {
    const auto g = hn::Mul(load(d, gradient + i), hn::Set(d, c.scale));
    const auto s = hn::MulAdd(g, g, hn::Set(d, c.eps));
    const auto v =
        hn::MulAdd(load(d, square + i), hn::Set(d, c.beta2), hn::Mul(s, hn::Set(d, c.rest2)));
    store(v, d, square + i);
    const auto u = hn::Mul(g, inverse_root(d, v));
    return hn::Mul(u, u);
  });
}

float update_squares(const float* gradient, const float* factors, int n,
                     const AdafactorConstants& c) {
  return row_sum<float>(n, [=, scale = c.scale](auto d, int i) HWY_ATTR {
    const auto g = hn::Mul(load(d, gradient + i), hn::Set(d, scale));
    const auto u = hn::Mul(g, load(d, factors + i));
    return hn::Mul(u, u);
  });
}

template <class C>
void apply(const AdafactorRange<C>& r, bool root, float decay, const AdafactorConstants& c) {
  for_each<float>(r.n, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto g = hn::Mul(load(d, r.gradient + i), hn::Set(d, c.scale));
    const auto factor = load(d, r.factors + i);
    auto u = hn::Mul(hn::Mul(g, root ? inverse_root(d, factor) : factor), hn::Set(d, r.row));
    if (r.mean) {
      u = hn::MulAdd(load(d, r.mean + i), hn::Set(d, c.beta1), hn::Mul(u, hn::Set(d, c.rest1)));
      store(u, d, r.mean + i);
    }
    const auto p = hn::Sub(hn::Mul(load(d, r.master + i), hn::Set(d, decay)), u);
    store(p, d, r.master + i);
    if (r.copy) store(p, d, r.copy + i);
  });
}

template <class C>
AdafactorTable<C> make_table() {
  return {squares, vector_squares, update_squares, apply<C>};
}
SINTER_COPY_TABLES(AdafactorTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_COPY_DISPATCH(AdafactorTable)

constexpr int part = 1024;  // elements of a vector that are summed together

double sum_in_order(const float* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

/// One call: a tensor, its moments and its constants.
template <class C>
struct Adafactor : AdafactorMoments {
  const AdafactorStep step;
  const ParameterSpan<float, float, float, C>& span;
  int rows, columns;
  Stream& stream = span.stream;
  const float* gradient = span.gradient;
  AdafactorTable<C> kernels = table<C>();
  std::int64_t n = std::int64_t(rows) * columns;
  AdafactorConstants constants{float(step.decision ? step.decision->scale : 1),
                               float(step.options.eps_square),
                               float(step.options.beta1),
                               float(1 - step.options.beta1),
                               float(step.beta2),
                               float(1 - step.beta2)};

  /// α, from the parameter as it is before the step.
  double rate() const {
    if (!step.options.scale_parameter) return step.lr;
    double squares;
    sum_of_squares(stream, span.master, n, &squares);
    const double size = std::sqrt(squares / double(n));
    return step.lr * std::max(step.options.eps_scale, size);
  }

  /// α / max(1, R(u) / clip_threshold).
  double clipped(double rate, double update_squares) const {
    const double size = std::sqrt(update_squares / double(n)) / step.options.clip_threshold;
    return size > 1 ? rate / size : rate;  // a NaN clips nothing, and reaches the parameters
  }

  AdafactorRange<C> range(std::int64_t at, const float* factors, double row, std::int64_t size) {
    return {span.master + at,
            gradient + at,
            mean ? mean + at : nullptr,
            span.copy ? span.copy + at : nullptr,
            factors,
            float(row),
            int(size)};
  }

  void matrix() {
    const double alpha = rate();
    float* totals = scratch + std::int64_t{32} * columns;  // one for each row
    update_moments(totals);
    const double row_mean = sum_in_order(row_square, rows) / rows;
    float* factors = scratch;  // the partial sums are not needed any more
    for (int c = 0; c < columns; ++c) factors[c] = 1 / std::sqrt(column_square[c]);
    auto row_factor = [&](std::int64_t r) { return 1 / std::sqrt(row_square[r] / row_mean); };
    split_rows(stream, rows, columns, [&](int begin, int end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const float sum =
            kernels.update_squares(gradient + r * columns, factors, columns, constants);
        totals[r] = float(sum * row_factor(r) * row_factor(r));
      }
    });
    const double size = clipped(alpha, sum_in_order(totals, rows));
    const float decay = float(1 - alpha * step.weight_decay);
    split_rows(stream, rows, 2 * columns, [&](int begin, int end) {
      for (std::int64_t r = begin; r < end; ++r)
        kernels.apply(range(r * columns, factors, size * row_factor(r), columns), false, decay,
                      constants);
    });
  }

  /// totals: scratch, one for each row.
  void update_moments(float* totals) {
    const double keep = step.beta2, rest = 1 - step.beta2;
    const int blocks =
        for_row_blocks(stream, rows, columns, scratch, columns, [&](std::int64_t r, float* sums) {
          totals[r] = kernels.squares(gradient + r * columns, sums, columns, constants);
        });
    for (int b = 1; b < blocks; ++b)
      add_range(scratch, scratch + std::int64_t(b) * columns, scratch, columns);
    for (int r = 0; r < rows; ++r)
      row_square[r] = float(keep * row_square[r] + rest * (totals[r] / columns));
    for (int c = 0; c < columns; ++c)
      column_square[c] = float(keep * column_square[c] + rest * (scratch[c] / rows));
  }

  void vector() {
    const double alpha = rate();
    const std::int64_t parts = (n + part - 1) / part;
    auto length = [&](std::int64_t i) { return std::min<std::int64_t>(n - i * part, part); };
    split(stream, parts, part, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        scratch[i] = kernels.vector_squares(gradient + i * part, row_square + i * part,
                                            int(length(i)), constants);
    });
    const double size = clipped(alpha, sum_in_order(scratch, parts));
    const float decay = float(1 - alpha * step.weight_decay);
    split(stream, parts, part, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        kernels.apply(range(i * part, row_square + i * part, size, length(i)), true, decay,
                      constants);
    });
  }
};

static_assert(max_row_blocks == 32);

}  // namespace

template <class M, class G, class S, class C>
void adafactor(const AdafactorOptions& options, const ParameterSpan<M, G, S, C>& span,
               const AdafactorMoments& moments, int rows, int columns) {
  if (rows <= 0 || columns <= 0) return;
  Adafactor<C> call{moments, {options, span}, span, rows, columns};
  adafactor_factored(rows, columns) ? call.matrix() : call.vector();
}

#define SINTER_INSTANTIATE(C)                                                                    \
  template void adafactor(const AdafactorOptions&, const ParameterSpan<float, float, float, C>&, \
                          const AdafactorMoments&, int, int);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(BFloat16)
SINTER_INSTANTIATE(Float16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
