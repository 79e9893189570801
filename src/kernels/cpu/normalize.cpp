// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/normalize.hpp"

#include <cmath>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/row_blocks.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/normalize.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/row_sum-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_NORMALIZE_TABLE
#define SINTER_NORMALIZE_TABLE
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
  Wide<T>* dbias;    // likewise; of layer norm where dweight is
};

/// What each instruction set provides, on one row: RMS norm, which is not centred, and layer norm.
template <class T>
struct NormalizeTable {
  using Forward = void (*)(const T* x, const T* weight, const T* bias, T* y, Wide<T>* mean,
                           Wide<T>* inverse, int width, Wide<T> eps);
  using Backward = void (*)(const Gradients<T>&, const T* weight, const Wide<T>* mean,
                            Wide<T> inverse, int width);
  Forward forward[2];  // by whether rows are centred
  Backward backward[2];
};

}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// x[i] - mean, or x[i].
template <bool Centred, class D, class T>
HWY_INLINE auto centre(D d, const T* x, std::int64_t i, Wide<T> mean) {
  if constexpr (Centred) {
    return hn::Sub(load(d, x + i), hn::Set(d, mean));
  } else {
    return load(d, x + i);
  }
}

template <bool Centred, class T, class S = Wide<T>>
void forward(const T* x, const T* weight, const T* bias, T* y, S* mean_out, S* inverse_out,
             int width, S eps) {
  S mean = 0;
  if constexpr (Centred) {
    mean = row_sum<S>(width, [=](auto d, int i) HWY_ATTR { return load(d, x + i); }) / S(width);
    *mean_out = mean;
  }
  const S squares = row_sum<S>(width, [=](auto d, int i) HWY_ATTR {
    auto v = centre<Centred>(d, x, i, mean);
    return hn::Mul(v, v);
  });
  const S inverse = S(1) / std::sqrt(squares / S(width) + eps);
  *inverse_out = inverse;
  for_each<T>(width, [=](auto d, std::int64_t i) HWY_ATTR {
    auto normal = hn::Mul(centre<Centred>(d, x, i, mean), hn::Set(d, inverse));
    if constexpr (Centred) {
      store(hn::MulAdd(normal, load(d, weight + i), load(d, bias + i)), d, y + i);
    } else {
      store(hn::Mul(normal, load(d, weight + i)), d, y + i);
    }
  });
}

/// With n = (x - mean) inverse and e = dy weight: dx = inverse (e - mean(e) - n mean(e n)); without
/// mean(e) where rows are not centred.
template <bool Centred, class T, class S = Wide<T>>
void backward(const Gradients<T>& g, const T* weight, const S* mean_in, S inverse, int width) {
  const T* x = g.x;
  const T* dy = g.dy;
  const S mean = Centred ? *mean_in : S(0);
  auto normal = [=](auto d, std::int64_t i) HWY_ATTR {
    return hn::Mul(centre<Centred>(d, x, i, mean), hn::Set(d, inverse));
  };
  auto scaled = [=](auto d, std::int64_t i)
                    HWY_ATTR { return hn::Mul(load(d, dy + i), load(d, weight + i)); };
  const S mean_e = Centred ? row_sum<S>(width, scaled) / S(width) : S(0);
  const S mean_en =
      row_sum<S>(width,
                 [=](auto d, int i) HWY_ATTR { return hn::Mul(scaled(d, i), normal(d, i)); }) /
      S(width);
  for_each<T>(width, [&](auto d, std::int64_t i) HWY_ATTR {
    const auto n = normal(d, i);
    auto e = scaled(d, i);
    if constexpr (Centred) e = hn::Sub(e, hn::Set(d, mean_e));
    auto dx = hn::Mul(hn::NegMulAdd(n, hn::Set(d, mean_en), e), hn::Set(d, inverse));
    if (g.dweight) {
      const auto slope = load(d, dy + i);
      store(hn::MulAdd(slope, n, load(d, g.dweight + i)), d, g.dweight + i);
      if constexpr (Centred) store(hn::Add(slope, load(d, g.dbias + i)), d, g.dbias + i);
    }
    if (g.dh_in) dx = hn::Add(dx, load(d, g.dh_in + i));
    if (g.dx) put(d, dx, g.dx + i, g.add_dx);
    if (g.dx2) put(d, dx, g.dx2 + i, g.add_dx2);
  });
}

template <class T>
NormalizeTable<T> make_table() {
  return {{forward<false, T>, forward<true, T>}, {backward<false, T>, backward<true, T>}};
}
SINTER_TABLES(NormalizeTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(NormalizeTable)

static_assert(min_row_blocks == max_row_blocks);

/// Element `at`, or null where there is no tensor.
template <class T>
T* from(const Tensor<T>& tensor, std::int64_t at) {
  return tensor ? tensor.data + at : nullptr;
}

}  // namespace

template <class T, class S>
void normalize_forward(Stream& stream, Input<T> x, Input<T> weight, Input<T> bias, Tensor<T> y,
                       Output<S> mean, Tensor<S> inverse, double eps) {
  const int width = y.columns;
  split_rows(stream, y.rows, width,
             [=, kernel = table<T>().forward[bool(mean)]](int begin, int end) {
               for (std::int64_t r = begin; r < end; ++r) {
                 const std::int64_t at = r * width;
                 kernel(x.data + at, weight.data, bias.data, y.data + at, from(mean, r),
                        inverse.data + r, width, S(eps));
               }
             });
}

template <class T, class S>
void add_normalize_forward(Stream& stream, Input<T> a, Input<T> b, Input<T> weight, Input<T> bias,
                           Output<T> h, Tensor<T> y, Output<S> mean, Tensor<S> inverse,
                           double eps) {
  const int width = y.columns;
  split_rows(stream, y.rows, width,
             [=, kernel = table<T>().forward[bool(mean)]](int begin, int end) {
               for (std::int64_t r = begin; r < end; ++r) {
                 const std::int64_t at = r * width;
                 add_range(a.data + at, b.data + at, h.data + at, width);
                 kernel(h.data + at, weight.data, bias.data, y.data + at, from(mean, r),
                        inverse.data + r, width, S(eps));
               }
             });
}

template <class T, class S, class G>
void normalize_backward(Stream& stream, Input<T> x, Input<T> weight, Input<S> mean,
                        Input<S> inverse, Input<T> dy, Input<T> dh_in, Tensor<T> dx, Output<T> dx2,
                        Tensor<G> dweight, Output<G> dbias, S* scratch, int) {
  auto kernel = table<T>().backward[bool(mean)];
  const int width = x.columns, sums = dbias ? 2 * width : width;
  S* partials = dweight ? scratch : nullptr;
  auto row = [&](std::int64_t r, S* partial) {
    const std::int64_t at = r * width;
    kernel({x.data + at, dy.data + at, from(dh_in, at), from(dx, at), from(dx2, at), dx.add,
            dx2.add, partial, partial ? partial + width : nullptr},
           weight.data, from(mean, r), inverse.data[r], width);
  };
  const int blocks = for_row_blocks(stream, x.rows, 2 * width, partials, sums, row);
  if (!dweight) return;
  combine_row_blocks(scratch, blocks, sums, dweight.data, width, dweight.add);
  if (dbias) combine_row_blocks(scratch + width, blocks, sums, dbias.data, width, dbias.add);
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<T>,               \
                                  Output<Wide<T>>, Tensor<Wide<T>>, double);                      \
  template void add_normalize_forward(Stream&, Input<T>, Input<T>, Input<T>, Input<T>, Output<T>, \
                                      Tensor<T>, Output<Wide<T>>, Tensor<Wide<T>>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                                   \
  template void normalize_backward(Stream&, Input<T>, Input<T>, Input<Wide<T>>, Input<Wide<T>>,    \
                                   Input<T>, Input<T>, Tensor<T>, Output<T>, Tensor<G>, Output<G>, \
                                   Wide<T>*, int);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE
