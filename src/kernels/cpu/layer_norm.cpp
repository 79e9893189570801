#include "sinter/kernels/layer_norm.hpp"

#include <cmath>

#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/layer_norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/row_sum-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_LAYER_NORM_TABLE
#define SINTER_LAYER_NORM_TABLE
namespace sinter::kernel {
namespace {

template <class T>
struct Gradients {
  const T* x;
  const T* dy;
  const T* dh_in;
  T* dx;
  T* dx2;
  bool add_dx, add_dx2;
  Wide<T>* dweight;  // partial sums, always added to
  Wide<T>* dbias;
};

/// What each instruction set provides, on one row.
template <class T>
struct LayerNormTable {
  void (*forward)(const T* x, const T* weight, const T* bias, T* y, Wide<T>* mean, Wide<T>* inverse,
                  int width, Wide<T> eps);
  void (*backward)(const Gradients<T>&, const T* weight, Wide<T> mean, Wide<T> inverse, int width);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T, class S = Wide<T>>
void forward(const T* x, const T* weight, const T* bias, T* y, S* mean_out, S* inverse_out,
             int width, S eps) {
  const S mean =
      row_sum<S>(width, [=](auto d, int i) HWY_ATTR { return load(d, x + i); }) / S(width);
  const S squares = row_sum<S>(width, [=](auto d, int i) HWY_ATTR {
    auto centred = hn::Sub(load(d, x + i), hn::Set(d, mean));
    return hn::Mul(centred, centred);
  });
  const S inverse = S(1) / std::sqrt(squares / S(width) + eps);
  *mean_out = mean;
  *inverse_out = inverse;
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    auto normal = hn::Mul(hn::Sub(load(d, x + i), hn::Set(d, mean)), hn::Set(d, inverse));
    store(hn::MulAdd(normal, load(d, weight + i), load(d, bias + i)), d, y + i);
  });
}

/// With n = (x - mean) inverse and e = dy weight: dx = inverse (e - mean(e) - n mean(e n)).
template <class T, class S = Wide<T>>
void backward(const Gradients<T>& g, const T* weight, S mean, S inverse, int width) {
  const T* x = g.x;
  const T* dy = g.dy;
  auto normal = [=](auto d, std::int64_t i) HWY_ATTR {
    return hn::Mul(hn::Sub(load(d, x + i), hn::Set(d, mean)), hn::Set(d, inverse));
  };
  auto scaled = [=](auto d, std::int64_t i)
                    HWY_ATTR { return hn::Mul(load(d, dy + i), load(d, weight + i)); };
  const S mean_e = row_sum<S>(width, scaled) / S(width);
  const S mean_en =
      row_sum<S>(width,
                 [=](auto d, int i) HWY_ATTR { return hn::Mul(scaled(d, i), normal(d, i)); }) /
      S(width);
  if (g.dweight) {
    for_each<T>(width, [=, dweight = g.dweight, dbias = g.dbias](auto d, std::int64_t i) HWY_ATTR {
      auto slope = load(d, dy + i);
      store(hn::MulAdd(slope, normal(d, i), load(d, dweight + i)), d, dweight + i);
      store(hn::Add(slope, load(d, dbias + i)), d, dbias + i);
    });
  }
  for_each<T>(width, [&](auto d, std::int64_t i) HWY_ATTR {
    auto centred =
        hn::NegMulAdd(normal(d, i), hn::Set(d, mean_en), hn::Sub(scaled(d, i), hn::Set(d, mean_e)));
    auto dx = hn::Mul(centred, hn::Set(d, inverse));
    if (g.dh_in) dx = hn::Add(dx, load(d, g.dh_in + i));
    if (g.dx) put(d, dx, g.dx + i, g.add_dx);
    if (g.dx2) put(d, dx, g.dx2 + i, g.add_dx2);
  });
}

template <class T>
LayerNormTable<T> make_table() {
  return {forward<T>, backward<T>};
}
SINTER_TABLES(LayerNormTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(LayerNormTable)

static_assert(layer_norm_scratch(1) == 2 * most_row_blocks);

}  // namespace

template <class T, class S>
void layer_norm_forward(Stream& stream, const T* x, const T* weight, const T* bias, T* y, S* mean,
                        S* inverse, int rows, int width, double eps) {
  auto kernel = table<T>().forward;
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      kernel(x + r * width, weight, bias, y + r * width, mean + r, inverse + r, width, S(eps));
  });
}

template <class T, class S>
void add_layer_norm_forward(Stream& stream, const T* a, const T* b, const T* weight, const T* bias,
                            T* h, T* y, S* mean, S* inverse, int rows, int width, double eps) {
  auto kernel = table<T>().forward;
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::int64_t at = r * width;
      add_range(a + at, b + at, h + at, width);
      kernel(h + at, weight, bias, y + at, mean + r, inverse + r, width, S(eps));
    }
  });
}

template <class T, class S, class G>
void layer_norm_backward(Stream& stream, const T* x, const T* weight, const S* mean,
                         const S* inverse, const T* dy, const T* dh_in, T* dx, T* dx2, bool add_dx,
                         bool add_dx2, G* dweight, G* dbias, bool add_weights, int rows, int width,
                         S* scratch) {
  auto kernel = table<T>().backward;
  const int sums = 2 * width;
  S* partials = dweight ? scratch : nullptr;
  auto row = [&](std::int64_t r, S* partial) {
    const std::int64_t at = r * width;
    kernel(
        {x + at, dy + at, dh_in ? dh_in + at : nullptr, dx ? dx + at : nullptr,
         dx2 ? dx2 + at : nullptr, add_dx, add_dx2, partial, partial ? partial + width : nullptr},
        weight, mean[r], inverse[r], width);
  };
  const int blocks = for_row_blocks(stream, rows, sums, partials, sums, row);
  if (!dweight) return;
  combine_row_blocks(scratch, blocks, sums, dweight, width, add_weights);
  combine_row_blocks(scratch + width, blocks, sums, dbias, width, add_weights);
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void layer_norm_forward(Stream&, const T*, const T*, const T*, T*, Wide<T>*, Wide<T>*, \
                                   int, int, double);                                             \
  template void add_layer_norm_forward(Stream&, const T*, const T*, const T*, const T*, T*, T*,   \
                                       Wide<T>*, Wide<T>*, int, int, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                                 \
  template void layer_norm_backward(Stream&, const T*, const T*, const Wide<T>*, const Wide<T>*, \
                                    const T*, const T*, T*, T*, bool, bool, G*, G*, bool, int,   \
                                    int, Wide<T>*);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
