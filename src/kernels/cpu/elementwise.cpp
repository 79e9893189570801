// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/elementwise.hpp"

#include <cstring>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_ELEMENTWISE_TABLE
#define SINTER_ELEMENTWISE_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one range of flat arrays.
template <class T>
struct ElementwiseTable {
  void (*fill)(T* y, Wide<T> value, std::int64_t n);
  void (*add)(const T* a, const T* b, T* y, std::int64_t n);
  void (*scale)(const T* x, Wide<T> factor, T* y, std::int64_t n);
  void (*add_scaled)(const T* x, Wide<T> factor, T* y, std::int64_t n);
  void (*column_sum)(const T* x, T* sum, int rows, int columns, std::int64_t stride, bool add);
  void (*wide_column_sum)(const T* x, Wide<T>* sum, int rows, int columns, std::int64_t stride,
                          bool add);
  void (*widen)(const T* x, Wide<T>* y, std::int64_t n, bool add);
  void (*narrow)(const Wide<T>* x, T* y, std::int64_t n, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void fill_range(T* y, Wide<T> value, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR { store(hn::Set(d, value), d, y + i); });
}

template <class T>
void add_arrays(const T* a, const T* b, T* y, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i)
                     HWY_ATTR { store(hn::Add(load(d, a + i), load(d, b + i)), d, y + i); });
}

template <class T>
void scale_range(const T* x, Wide<T> factor, T* y, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i)
                     HWY_ATTR { store(hn::Mul(load(d, x + i), hn::Set(d, factor)), d, y + i); });
}

template <class T>
void add_scaled_range(const T* x, Wide<T> factor, T* y, std::int64_t n) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    store(hn::MulAdd(load(d, x + i), hn::Set(d, factor), load(d, y + i)), d, y + i);
  });
}

/// Rows summed in a register before they are added to the total: keeps rounding errors small.
constexpr int block_rows = 64;

/// The sums of `Vectors` vectors of columns.
template <int Vectors, class D, class T, class G>
HWY_INLINE void sum_columns(D d, const T* x, G* sum, int rows, std::int64_t stride, bool add) {
  const auto lanes = std::int64_t(hn::Lanes(d));
  hn::Vec<D> total[Vectors];
  for (int v = 0; v < Vectors; ++v) total[v] = add ? load(d, sum + v * lanes) : hn::Zero(d);
  for (int first = 0; first < rows; first += block_rows) {
    int end = first + block_rows < rows ? first + block_rows : rows;
    hn::Vec<D> part[Vectors];
    for (int v = 0; v < Vectors; ++v) part[v] = hn::Zero(d);
    for (int r = first; r < end; ++r)
      for (int v = 0; v < Vectors; ++v)
        part[v] = hn::Add(part[v], load(d, x + r * stride + v * lanes));
    for (int v = 0; v < Vectors; ++v) total[v] = hn::Add(total[v], part[v]);
  }
  for (int v = 0; v < Vectors; ++v) store(total[v], d, sum + v * lanes);
}

template <class T, class G>
void column_sum_range(const T* x, G* sum, int rows, int columns, std::int64_t stride, bool add) {
  const hn::ScalableTag<Wide<T>> d;
  const hn::CappedTag<Wide<T>, 1> one;
  const int lanes = int(hn::Lanes(d));
  int c = 0;
  for (; c + 4 * lanes <= columns; c += 4 * lanes)
    sum_columns<4>(d, x + c, sum + c, rows, stride, add);
  for (; c + lanes <= columns; c += lanes) sum_columns<1>(d, x + c, sum + c, rows, stride, add);
  for (; c < columns; ++c) sum_columns<1>(one, x + c, sum + c, rows, stride, add);
}

template <class T>
ElementwiseTable<T> make_table() {
  return {fill_range<T>,       add_arrays<T>,          scale_range<T>,
          add_scaled_range<T>, column_sum_range<T, T>, column_sum_range<T, Wide<T>>,
          put_all<T, Wide<T>>, put_all<Wide<T>, T>};
}
SINTER_TABLES(ElementwiseTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(ElementwiseTable)

template <class T>
void add_arrays(Stream& stream, const T* a, const T* b, T* y, std::int64_t n) {
  auto kernel = table<T>().add;
  split_elements(stream, n, [&](auto begin, auto end) {
    kernel(a + begin, b + begin, y + begin, end - begin);
  });
}

}  // namespace

template <class T>
void add_range(const T* a, const T* b, T* y, std::int64_t n) {
  table<T>().add(a, b, y, n);
}

template <class From, class To>
void put_range(const From* x, To* y, std::int64_t n, bool add) {
  if constexpr (std::is_same_v<To, Wide<From>>) {
    table<From>().widen(x, y, n, add);
  } else {
    table<To>().narrow(x, y, n, add);
  }
}

template <class T>
void fill(Stream& stream, T* y, Wide<T> value, std::int64_t n) {
  auto kernel = table<T>().fill;
  split_elements(stream, n, [&](auto begin, auto end) { kernel(y + begin, value, end - begin); });
}

template <class T>
void copy(Stream& stream, const T* x, T* y, std::int64_t n) {
  if (x == y) return;
  split_elements(stream, n, [&](auto begin, auto end) {
    std::memcpy(y + begin, x + begin, std::size_t(end - begin) * sizeof(T));
  });
}

template <class T>
void scale(Stream& stream, const T* x, Wide<T> factor, T* y, std::int64_t n) {
  auto kernel = table<T>().scale;
  split_elements(stream, n,
                 [&](auto begin, auto end) { kernel(x + begin, factor, y + begin, end - begin); });
}

template <class T>
void scale(Stream& stream, Input<T> x, Wide<T> factor, Tensor<T> y) {
  if (!y.add) return scale(stream, x.data, factor, y.data, y.size());
  auto kernel = table<T>().add_scaled;
  split_elements(stream, y.size(), [&](auto begin, auto end) {
    kernel(x.data + begin, factor, y.data + begin, end - begin);
  });
}

template <class T>
void accumulate(Stream& stream, const T* a, T* y, std::int64_t n) {
  add_arrays(stream, y, a, y, n);
}

template <class T>
void add(Stream& stream, Input<T> a, Input<T> b, Tensor<T> y) {
  add_arrays(stream, a.data, b.data, y.data, y.size());
}

template <class T>
void put(Stream& stream, Input<T> x, Tensor<T> y) {
  return y.add ? accumulate(stream, x.data, y.data, y.size())
               : copy(stream, x.data, y.data, y.size());
}

template <class From, class To>
void cast(Stream& stream, const From* x, To* y, std::int64_t n) {
  split_elements(stream, n, [&](auto begin, auto end) {
    if constexpr (is_narrow<From> || is_narrow<To>) {
      put_range(x + begin, y + begin, end - begin, false);
    } else {
      for (auto i = begin; i < end; ++i) y[i] = To(x[i]);
    }
  });
}

template <class T, class G>
void column_sum(Stream& stream, Tensor<const T> x, Tensor<G> sum) {
  if (x.rows == 0) {  // x may be null
    if (!sum.add) fill<G>(stream, sum.data, 0, sum.size());
    return;
  }
  const auto functions = table<T>();
  split_columns(stream, x.rows, x.columns, [&](int begin, int end) {
    if constexpr (std::is_same_v<G, T>) {
      functions.column_sum(x.data + begin, sum.data + begin, x.rows, end - begin, x.columns,
                           sum.add);
    } else {
      functions.wide_column_sum(x.data + begin, sum.data + begin, x.rows, end - begin, x.columns,
                                sum.add);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                        \
  template void fill(Stream&, T*, Wide<T>, std::int64_t);            \
  template void copy(Stream&, const T*, T*, std::int64_t);           \
  template void add(Stream&, Input<T>, Input<T>, Tensor<T>);         \
  template void put(Stream&, Input<T>, Tensor<T>);                   \
  template void add_range(const T*, const T*, T*, std::int64_t);     \
  template void scale(Stream&, const T*, Wide<T>, T*, std::int64_t); \
  template void scale(Stream&, Input<T>, Wide<T>, Tensor<T>);        \
  template void accumulate(Stream&, const T*, T*, std::int64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G) template void column_sum(Stream&, Tensor<const T>, Tensor<G>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T)                                  \
  template void cast(Stream&, const float*, T*, std::int64_t); \
  template void cast(Stream&, const T*, float*, std::int64_t);
SINTER_INSTANTIATE(double)
SINTER_EACH_NARROW(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void put_range(const float*, float*, std::int64_t, bool);
template void put_range(const double*, double*, std::int64_t, bool);
#define SINTER_INSTANTIATE(T)                                    \
  template void put_range(const float*, T*, std::int64_t, bool); \
  template void put_range(const T*, float*, std::int64_t, bool);
SINTER_EACH_NARROW(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
