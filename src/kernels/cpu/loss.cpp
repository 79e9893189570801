// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/loss.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/targets.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/loss.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_LOSS_TABLE
#define SINTER_LOSS_TABLE
namespace sinter::kernel {
namespace {
/// What LossOptions makes of the target of one row: its class and all classes have parts of it.
template <class S>
struct TargetParts {
  S of_target;       // (1 - label_smoothing) w[target]
  S of_each;         // label_smoothing / classes
  S of_all;          // the sum of all parts
  const S* weights;  // w; null: all 1
  S target_weight;   // w[target]

  TargetParts(const LossOptions<S>& options, int target, int classes)
      : weights(options.class_weights), target_weight(weights ? weights[target] : S(1)) {
    const double each = options.label_smoothing / classes;
    const double of_class = (1 - options.label_smoothing) * double(target_weight);
    of_target = S(of_class);
    of_each = S(each);
    of_all = S(of_class + each * (weights ? options.weight_sum : classes));
  }
};

/// What each instruction set provides, on one row.
template <class T>
struct LossTable {
  Wide<T> (*largest)(const T* logits, int n);
  Wide<T> (*cross_entropy)(const T* logits, int target, T* dlogits, Wide<T> weight, int vocabulary,
                           bool add);
  Wide<T> (*parted_cross_entropy)(const T* logits, int target, T* dlogits, Wide<T> weight,
                                  int vocabulary, bool add, const TargetParts<Wide<T>>& parts);
  Wide<T> (*squared_error)(const T* x, const T* target, T* dx, Wide<T> weight, int width, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T, class S = Wide<T>>
S largest(const T* x, int n) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const int lanes = int(hn::Lanes(d));
  if (n < lanes) {
    S most = hn::GetLane(load(one, x));
    for (int i = 1; i < n; ++i) {
      const S next = hn::GetLane(load(one, x + i));
      most = next > most ? next : most;
    }
    return most;
  }
  auto most = load(d, x);
  for (int i = lanes; i + lanes <= n; i += lanes) most = hn::Max(most, load(d, x + i));
  most = hn::Max(most, load(d, x + n - lanes));  // the rest, overlapping
  return reduce_max(d, most);
}

/// Σ exp(x - most); stores the terms unless `terms` is null.
template <class T, class S = Wide<T>>
S sum_exponentials(const T* x, S most, T* terms, int n) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d);
  auto term = [=](auto tag, int i) HWY_ATTR {
    auto e = exp(tag, hn::Sub(load(tag, x + i), hn::Set(tag, most)));
    if (terms) store(e, tag, terms + i);
    return e;
  };
  int i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Add(a, term(d, i));
    b = hn::Add(b, term(d, i + lanes));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(d, i));
  S sum = reduce_sum(d, hn::Add(a, b));
  for (; i < n; ++i) sum += hn::GetLane(term(one, i));
  return sum;
}

/// The loss of one row that has a target.
template <class T, class S = Wide<T>>
S cross_entropy(const T* logits, int target, T* dlogits, S weight, int vocabulary, bool add) {
  const hn::CappedTag<S, 1> one;
  const S most = largest(logits, vocabulary);
  const S right = hn::GetLane(load(one, logits + target)) - most;
  const bool again = add || is_narrow<T>;  // terms have no place to wait in
  T* terms = again ? nullptr : dlogits;    // may be the logits themselves
  const S sum = sum_exponentials(logits, most, terms, vocabulary);
  if (dlogits) {
    const S factor = weight / sum;
    const S before = add ? hn::GetLane(load(one, dlogits + target)) : S(0);
    if (again) {
      for_each<T>(vocabulary, [=](auto d, std::int64_t i) HWY_ATTR {
        auto e = exp(d, hn::Sub(load(d, logits + i), hn::Set(d, most)));
        put(d, hn::Mul(e, hn::Set(d, factor)), dlogits + i, add);
      });
    } else {
      for_each<T>(vocabulary, [=](auto d, std::int64_t i) HWY_ATTR {
        store(hn::Mul(load(d, dlogits + i), hn::Set(d, factor)), d, dlogits + i);
      });
    }
    if constexpr (is_narrow<T>) {  // rounded once
      const S share = hn::GetLane(exp(one, hn::Set(one, right))) * factor;
      store(hn::Set(one, before + share - weight), one, dlogits + target);
    } else {
      dlogits[target] -= weight;
    }
  }
  return std::log(sum) - right;
}

/// Σ w[c] (x[c] - most); w null: all 1.
template <class T, class S = Wide<T>>
S sum_differences(const T* x, S most, const S* w, int n) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto term = [=](auto tag, int i) HWY_ATTR {
    auto difference = hn::Sub(load(tag, x + i), hn::Set(tag, most));
    return w ? hn::Mul(load(tag, w + i), difference) : difference;
  };
  auto sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, term(d, i));
  S sum = reduce_sum(d, sums);
  for (; i < n; ++i) sum += hn::GetLane(term(one, i));
  return sum;
}

/// cross_entropy() of a target whose parts are of all classes.
template <class T, class S = Wide<T>>
S parted_cross_entropy(const T* logits, int target, T* dlogits, S weight, int vocabulary, bool add,
                       const TargetParts<S>& parts) {
  const hn::CappedTag<S, 1> one;
  const S most = largest(logits, vocabulary);
  const S right = hn::GetLane(load(one, logits + target)) - most;
  const S others =
      parts.of_each > 0 ? sum_differences(logits, most, parts.weights, vocabulary) : S(0);
  const bool again = add || is_narrow<T>;
  T* terms = again ? nullptr : dlogits;
  const S sum = sum_exponentials(logits, most, terms, vocabulary);
  if (dlogits) {
    const S factor = weight * parts.of_all / sum, each = weight * parts.of_each;
    const S before = add ? hn::GetLane(load(one, dlogits + target)) : S(0);
    const S* w = parts.weights;
    for_each<T>(vocabulary, [=](auto d, std::int64_t i) HWY_ATTR {
      auto e = hn::Zero(d);
      if (again) {
        e = exp(d, hn::Sub(load(d, logits + i), hn::Set(d, most)));
      } else {
        e = load(d, dlogits + i);
      }
      auto part = hn::Set(d, each);
      if (w) part = hn::Mul(part, load(d, w + i));
      put(d, hn::Sub(hn::Mul(e, hn::Set(d, factor)), part), dlogits + i, add);
    });
    if constexpr (is_narrow<T>) {  // rounded once
      const S share = hn::GetLane(exp(one, hn::Set(one, right))) * factor;
      const S part = each * parts.target_weight + weight * parts.of_target;
      store(hn::Set(one, before + share - part), one, dlogits + target);
    } else {
      dlogits[target] -= weight * parts.of_target;
    }
  }
  const S smooth = parts.of_each > 0 ? parts.of_each * others : S(0);
  return parts.of_all * std::log(sum) - parts.of_target * right - smooth;
}

template <class T, class S = Wide<T>>
S squared_error(const T* x, const T* target, T* dx, S weight, int width, bool add) {
  const hn::ScalableTag<S> d;
  const hn::CappedTag<S, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto square = [=](auto tag, int i) HWY_ATTR {
    auto difference = hn::Sub(load(tag, x + i), load(tag, target + i));
    if (dx) put(tag, hn::Mul(difference, hn::Set(tag, weight)), dx + i, add);
    return hn::Mul(difference, difference);
  };
  auto sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= width; i += lanes) sums = hn::Add(sums, square(d, i));
  S sum = reduce_sum(d, sums);
  for (; i < width; ++i) sum += hn::GetLane(square(one, i));
  return sum;
}

template <class T>
LossTable<T> make_table() {
  return {largest<T>, cross_entropy<T>, parted_cross_entropy<T>, squared_error<T>};
}
SINTER_TABLES(LossTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(LossTable)
/// The rows of a matrix, rounded to T where they lie; they keep their distance.
template <class T>
Matrix<const T> narrow_rows(Stream& stream, Wide<T>* data, int rows, int columns) {
  constexpr int ratio = sizeof(Wide<T>) / sizeof(T);
  if constexpr (ratio > 1) {
    split_rows(stream, rows, columns, [&](int begin, int end) {
      for (std::int64_t r = begin; r < end; ++r)
        put_range(data + r * columns, reinterpret_cast<T*>(data + r * columns), columns, false);
    });
  }
  return {reinterpret_cast<const T*>(data), rows, columns, std::int64_t(ratio) * columns};
}

/// Adds the number of rows to `right` whose largest logit, the first of equals, is that of the target.
template <class T>
void count_right(Stream& stream, const T* logits, const std::int32_t* targets, int rows,
                 int vocabulary, int stride, unsigned long long* right) {
  const auto largest = table<T>().largest;
  split_rows(stream, rows, vocabulary, [&](int begin, int end) {
    unsigned long long count = 0;
    for (std::int64_t r = begin; r < end; ++r) {
      if (targets[r] < 0) continue;
      const T *row = logits + r * stride, *of_target = row + targets[r];
      const Wide<T> most = largest(row, vocabulary);
      const auto is_most = [most](T x) { return Wide<T>(x) == most; };
      count += is_most(*of_target) && std::none_of(row, of_target, is_most);
    }
    std::atomic_ref(*right).fetch_add(count, std::memory_order_relaxed);
  });
}

/// Rows are `stride` apart. What lies between them gets the slope 0.
template <class T, class S = Wide<T>>
void cross_entropy_of_rows(Stream& stream, const T* logits, const std::int32_t* targets, S* losses,
                           T* dlogits, double weight, int rows, int vocabulary, int stride,
                           bool add, const LossOptions<S>& options) {
  if (options.right) count_right(stream, logits, targets, rows, vocabulary, stride, options.right);
  const bool reshapes = options.reshapes();
  auto kernel = table<T>().cross_entropy;
  auto parted = table<T>().parted_cross_entropy;
  split_rows(stream, rows, 4 * vocabulary, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      T* gradient = dlogits ? dlogits + r * stride : nullptr;
      if (targets[r] >= 0) {
        losses[r] =
            reshapes
                ? parted(logits + r * stride, targets[r], gradient, S(weight), vocabulary, add,
                         TargetParts<S>(options, targets[r], vocabulary))
                : kernel(logits + r * stride, targets[r], gradient, S(weight), vocabulary, add);
        if (gradient && !add) std::fill(gradient + vocabulary, gradient + stride, T(0.f));
      } else {
        losses[r] = 0;
        if (gradient && !add) std::fill_n(gradient, stride, T(0.f));
      }
    }
  });
}

/// Both kernels of a head. With a bias the last row of `logits` is not of a chunk: it holds the
/// bias, or its gradient, in the wide type.
template <class T, class S, class G>
void head_in_chunks(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                    Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx, Tensor<G> dtable,
                    Tensor<G> dbias, double weight, Tensor<S> logits,
                    const LossOptions<S>& options) {
  const int width = x.columns, columns = logits.columns, chunk = logits.rows - bool(bias);
  const Tensor<const T> weights(table.data, columns, width);  // with their padding
  const Tensor<S> wide_bias(bias ? logits.data + std::int64_t(chunk) * columns : nullptr, 1,
                            columns);
  const bool gradients = dx || dtable || dbias;
  if (dtable && x.rows <= 0 && !dtable.add)
    fill(stream, dtable.data, G(0), std::int64_t(columns) * width);
  if (dbias && x.rows <= 0 && !dbias.add) fill(stream, dbias.data, G(0), columns);
  for (int first = 0; first < x.rows; first += chunk) {
    const int count = std::min(chunk, x.rows - first);
    const auto at = std::int64_t(first) * width;
    const Tensor<const T> inputs(x.data + at, count, width);
    const Tensor<S> some(logits.data, count, columns);
    if (bias) {
      put_range(bias.data, wide_bias.data, columns, false);
      matmul_bias(stream, inputs, transposed(weights), wide_bias, some);
    } else {
      matmul(stream, inputs, transposed(weights), some);
    }
    cross_entropy_of_rows(stream, logits.data, targets.data + first, losses.data + first,
                          gradients ? logits.data : nullptr, weight, count, table.rows, columns,
                          false, options);
    if (!gradients) continue;
    if (dbias) {
      column_sum(stream, some, wide_bias);
      put_range(wide_bias.data, dbias.data, columns, dbias.add || first > 0);
    }
    const auto slopes = narrow_rows<T>(stream, logits.data, count, columns);
    auto turned = slopes;
    turned.transposed = true;
    stream.together(double(count) * width * columns > matmul_grain, [&] {
      if (dx) matmul(stream, slopes, weights, Tensor<T>(dx.data + at, count, width, dx.add));
      if (dtable)
        matmul(stream, turned, inputs,
               Tensor<G>(dtable.data, columns, width, dtable.add || first > 0));
    });
  }
}

}  // namespace

template <class T, class S>
void cross_entropy(Stream& stream, Input<T> logits, Input<std::int32_t> targets, Tensor<S> losses,
                   Tensor<T> dlogits, double weight, const LossOptions<S>& options) {
  cross_entropy_of_rows(stream, logits.data, targets.data, losses.data, dlogits.data, weight,
                        logits.rows, logits.columns, logits.columns, dlogits.add, options);
}

template <class T, class S, class G>
void linear_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<std::int32_t> targets,
                          Output<S> losses, Tensor<T> dx, Tensor<G> dtable, double weight,
                          Tensor<S> logits, const LossOptions<S>& options) {
  head_in_chunks<T, S, G>(stream, x, table, {}, targets, losses, dx, dtable, {}, weight, logits,
                          options);
}

template <class T, class S, class G>
void linear_bias_cross_entropy(Stream& stream, Input<T> x, Input<T> table, Input<T> bias,
                               Input<std::int32_t> targets, Output<S> losses, Tensor<T> dx,
                               Tensor<G> dtable, Tensor<G> dbias, double weight, Tensor<S> logits,
                               const LossOptions<S>& options) {
  head_in_chunks(stream, x, table, bias, targets, losses, dx, dtable, dbias, weight, logits,
                 options);
}

template <class T, class S>
void mean_squared_error(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses, Tensor<T> dx,
                        double weight) {
  auto kernel = table<T>().squared_error;
  const int width = x.columns;
  split_rows(stream, x.rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      auto at = r * width;
      losses.data[r] = kernel(x.data + at, target.data + at, dx ? dx.data + at : nullptr,
                              S(2 * weight), width, dx.add);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void cross_entropy(Stream&, Input<T>, Input<std::int32_t>, Tensor<Wide<T>>, Tensor<T>, \
                              double, const LossOptions<Wide<T>>&);                               \
  template void mean_squared_error(Stream&, Input<T>, Input<T>, Tensor<Wide<T>>, Tensor<T>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                              \
  template void linear_cross_entropy(Stream&, Input<T>, Input<T>, Input<std::int32_t>,        \
                                     Output<Wide<T>>, Tensor<T>, Tensor<G>, double,           \
                                     Tensor<Wide<T>>, const LossOptions<Wide<T>>&);           \
  template void linear_bias_cross_entropy(                                                    \
      Stream&, Input<T>, Input<T>, Input<T>, Input<std::int32_t>, Output<Wide<T>>, Tensor<T>, \
      Tensor<G>, Tensor<G>, double, Tensor<Wide<T>>, const LossOptions<Wide<T>>&);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
