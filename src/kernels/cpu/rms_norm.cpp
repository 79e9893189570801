#include "sinter/kernels/rms_norm.hpp"

#include <cmath>

#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rms_norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/row_sum-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_RMS_NORM_TABLE
#define SINTER_RMS_NORM_TABLE
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
};

/// What each instruction set provides, on one row.
template <class T>
struct RmsNormTable {
  void (*forward)(const T* x, const T* weight, T* y, Wide<T>* inverse, int width, Wide<T> eps);
  void (*backward)(const Gradients<T>&, const T* weight, Wide<T> inverse, int width);
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T, class S = Wide<T>>
void forward(const T* x, const T* weight, T* y, S* inverse_out, int width, S eps) {
  const S squares = row_sum<S>(width, [=](auto d, int i) HWY_ATTR {
    auto v = load(d, x + i);
    return hn::Mul(v, v);
  });
  const S inverse = S(1) / std::sqrt(squares / S(width) + eps);
  *inverse_out = inverse;
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    auto normal = hn::Mul(load(d, x + i), hn::Set(d, inverse));
    store(hn::Mul(normal, load(d, weight + i)), d, y + i);
  });
}

/// With n = x inverse and e = dy weight: dx = inverse (e - n mean(e n)).
template <class T, class S = Wide<T>>
void backward(const Gradients<T>& g, const T* weight, S inverse, int width) {
  const T* x = g.x;
  const T* dy = g.dy;
  auto normal = [=](auto d, std::int64_t i)
                    HWY_ATTR { return hn::Mul(load(d, x + i), hn::Set(d, inverse)); };
  auto scaled = [=](auto d, std::int64_t i)
                    HWY_ATTR { return hn::Mul(load(d, dy + i), load(d, weight + i)); };
  const S mean_en =
      row_sum<S>(width,
                 [=](auto d, int i) HWY_ATTR { return hn::Mul(scaled(d, i), normal(d, i)); }) /
      S(width);
  for_each<T>(width, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto n = normal(d, i);
    auto dx = hn::Mul(hn::NegMulAdd(n, hn::Set(d, mean_en), scaled(d, i)), hn::Set(d, inverse));
    if (g.dweight) store(hn::MulAdd(load(d, dy + i), n, load(d, g.dweight + i)), d, g.dweight + i);
    if (g.dh_in) dx = hn::Add(dx, load(d, g.dh_in + i));
    if (g.dx) put(d, dx, g.dx + i, g.add_dx);
    if (g.dx2) put(d, dx, g.dx2 + i, g.add_dx2);
  });
}

template <class T>
RmsNormTable<T> make_table() {
  return {forward<T>, backward<T>};
}
SINTER_TABLES(RmsNormTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(RmsNormTable)
static_assert(rms_norm_scratch(1) == most_row_blocks);
}  // namespace

template <class T, class S>
void rms_norm_forward(Stream& stream, const T* x, const T* weight, T* y, S* inverse, int rows,
                      int width, double eps) {
  auto kernel = table<T>().forward;
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      kernel(x + r * width, weight, y + r * width, inverse + r, width, S(eps));
  });
}

template <class T, class S>
void add_rms_norm_forward(Stream& stream, const T* a, const T* b, const T* weight, T* h, T* y,
                          S* inverse, int rows, int width, double eps) {
  auto kernel = table<T>().forward;
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::int64_t at = r * width;
      add_range(a + at, b + at, h + at, width);
      kernel(h + at, weight, y + at, inverse + r, width, S(eps));
    }
  });
}

template <class T, class S, class G>
void rms_norm_backward(Stream& stream, const T* x, const T* weight, const S* inverse, const T* dy,
                       const T* dh_in, T* dx, T* dx2, bool add_dx, bool add_dx2, G* dweight,
                       bool add_weight, int rows, int width, S* scratch) {
  auto kernel = table<T>().backward;
  S* partials = dweight ? scratch : nullptr;
  auto row = [&](std::int64_t r, S* partial) {
    const std::int64_t at = r * width;
    kernel({x + at, dy + at, dh_in ? dh_in + at : nullptr, dx ? dx + at : nullptr,
            dx2 ? dx2 + at : nullptr, add_dx, add_dx2, partial},
           weight, inverse[r], width);
  };
  const int blocks = for_row_blocks(stream, rows, 2 * width, partials, width, row);
  if (dweight) combine_row_blocks(scratch, blocks, width, dweight, width, add_weight);
}

#define SINTER_INSTANTIATE(T)                                                                      \
  template void rms_norm_forward(Stream&, const T*, const T*, T*, Wide<T>*, int, int, double);     \
  template void add_rms_norm_forward(Stream&, const T*, const T*, const T*, T*, T*, Wide<T>*, int, \
                                     int, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                                   \
  template void rms_norm_backward(Stream&, const T*, const T*, const Wide<T>*, const T*, const T*, \
                                  T*, T*, bool, bool, G*, bool, int, int, Wide<T>*);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
