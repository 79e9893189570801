#include "sinter/kernels/loss.hpp"

#include <cmath>

#include "kernels/cpu/split.hpp"
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
/// What each instruction set provides, on one row.
template <class T>
struct LossTable {
  T (*cross_entropy)(const T* logits, int target, T* dlogits, T weight, int vocabulary, bool add);
  T (*squared_error)(const T* x, const T* target, T* dx, T weight, int width, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
T largest(const T* x, int n) {
  const hn::ScalableTag<T> d;
  const int lanes = int(hn::Lanes(d));
  if (n < lanes) {
    T most = x[0];
    for (int i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
    return most;
  }
  auto most = hn::LoadU(d, x);
  for (int i = lanes; i + lanes <= n; i += lanes) most = hn::Max(most, hn::LoadU(d, x + i));
  most = hn::Max(most, hn::LoadU(d, x + n - lanes));  // the rest, overlapping
  return reduce_max(d, most);
}

/// Σ exp(x - most); stores the terms unless `terms` is null.
template <class T>
T sum_exponentials(const T* x, T most, T* terms, int n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d);
  auto term = [=](auto tag, int i) HWY_ATTR {
    auto e = exp(tag, hn::Sub(hn::LoadU(tag, x + i), hn::Set(tag, most)));
    if (terms) hn::StoreU(e, tag, terms + i);
    return e;
  };
  int i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Add(a, term(d, i));
    b = hn::Add(b, term(d, i + lanes));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(d, i));
  T sum = reduce_sum(d, hn::Add(a, b));
  for (; i < n; ++i) sum += hn::GetLane(term(one, i));
  return sum;
}

/// The loss of one row that has a target.
template <class T>
T cross_entropy(const T* logits, int target, T* dlogits, T weight, int vocabulary, bool add) {
  const T most = largest(logits, vocabulary);
  const T right = logits[target] - most;
  T* terms = add ? nullptr : dlogits;  // may be the logits themselves
  const T sum = sum_exponentials(logits, most, terms, vocabulary);
  if (dlogits) {
    const T factor = weight / sum;
    if (add) {
      for_each<T>(vocabulary, [=](auto d, std::int64_t i) HWY_ATTR {
        auto e = exp(d, hn::Sub(hn::LoadU(d, logits + i), hn::Set(d, most)));
        put(d, hn::Mul(e, hn::Set(d, factor)), dlogits + i, true);
      });
    } else {
      for_each<T>(vocabulary, [=](auto d, std::int64_t i) HWY_ATTR {
        hn::StoreU(hn::Mul(hn::LoadU(d, dlogits + i), hn::Set(d, factor)), d, dlogits + i);
      });
    }
    dlogits[target] -= weight;
  }
  return std::log(sum) - right;
}

template <class T>
T squared_error(const T* x, const T* target, T* dx, T weight, int width, bool add) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int lanes = int(hn::Lanes(d));
  auto square = [=](auto tag, int i) HWY_ATTR {
    auto difference = hn::Sub(hn::LoadU(tag, x + i), hn::LoadU(tag, target + i));
    if (dx) put(tag, hn::Mul(difference, hn::Set(tag, weight)), dx + i, add);
    return hn::Mul(difference, difference);
  };
  auto sums = hn::Zero(d);
  int i = 0;
  for (; i + lanes <= width; i += lanes) sums = hn::Add(sums, square(d, i));
  T sum = reduce_sum(d, sums);
  for (; i < width; ++i) sum += hn::GetLane(square(one, i));
  return sum;
}

LossTable<float> table_f32() { return {cross_entropy<float>, squared_error<float>}; }
LossTable<double> table_f64() { return {cross_entropy<double>, squared_error<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(LossTable)
}  // namespace

template <class T, class S>
void cross_entropy(Stream& stream, const T* logits, const std::int32_t* targets, S* losses,
                   T* dlogits, double weight, int rows, int vocabulary, bool add) {
  auto kernel = table<T>().cross_entropy;
  split_rows(stream, rows, 4 * vocabulary, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      T* gradient = dlogits ? dlogits + r * vocabulary : nullptr;
      if (targets[r] >= 0) {
        losses[r] =
            kernel(logits + r * vocabulary, targets[r], gradient, T(weight), vocabulary, add);
      } else {
        losses[r] = 0;
        if (gradient && !add) std::fill_n(gradient, vocabulary, T(0));
      }
    }
  });
}

template <class T, class S>
void linear_cross_entropy(Stream& stream, const T* x, const T* table, const std::int32_t* targets,
                          S* losses, T* dx, bool add_dx, T* dtable, bool add_dtable, double weight,
                          T* scratch, int rows, int width, int vocabulary, int chunk_rows) {
  const auto weights = dense(table, vocabulary, width);
  const bool gradients = dx || dtable;
  if (dtable && rows <= 0 && !add_dtable)
    fill(stream, dtable, T(0), std::int64_t(vocabulary) * width);
  for (int first = 0; first < rows; first += chunk_rows) {
    const int count = std::min(chunk_rows, rows - first);
    const auto at = std::int64_t(first) * width;
    const auto inputs = dense(x + at, count, width);
    const auto logits = dense(scratch, count, vocabulary);
    matmul(stream, inputs, transposed(table, vocabulary, width), logits, false);
    cross_entropy(stream, scratch, targets + first, losses + first, gradients ? scratch : nullptr,
                  weight, count, vocabulary, false);
    if (dx) matmul(stream, logits, weights, dense(dx + at, count, width), add_dx);
    if (dtable)
      matmul(stream, transposed(scratch, count, vocabulary), inputs,
             dense(dtable, vocabulary, width), add_dtable || first > 0);
  }
}

template <class T, class S>
void mean_squared_error(Stream& stream, const T* x, const T* target, S* losses, T* dx,
                        double weight, int rows, int width, bool add) {
  auto kernel = table<T>().squared_error;
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      auto at = r * width;
      losses[r] = kernel(x + at, target + at, dx ? dx + at : nullptr, T(2 * weight), width, add);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                                   \
  template void cross_entropy(Stream&, const T*, const std::int32_t*, T*, T*, double, int, int, \
                              bool);                                                            \
  template void linear_cross_entropy(Stream&, const T*, const T*, const std::int32_t*, T*, T*,  \
                                     bool, T*, bool, double, T*, int, int, int, int);           \
  template void mean_squared_error(Stream&, const T*, const T*, T*, T*, double, int, int, bool);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(double)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
