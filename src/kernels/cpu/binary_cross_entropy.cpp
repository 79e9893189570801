// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/binary_cross_entropy.hpp"

#include <cmath>

#include "hardware/cpu/split.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {

// A row has as many numbers as a model has labels, so few that no instruction set would make a step
// faster.
template <class T, class S>
void binary_cross_entropy(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses,
                          Tensor<T> dx, Tensor<T> dtarget, double weight) {
  const S factor = S(weight);
  split_rows(stream, x.rows, 8 * x.columns, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      S sum = 0;
      for (int c = 0; c < x.columns; ++c) {
        const S logit = S(x(r, c)), wanted = S(target(r, c)), e = std::exp(-std::abs(logit));
        sum += (logit < 0 ? S(0) : logit) - logit * wanted + std::log1p(e);
        dtarget.put(r, c, -factor * logit);
        dx.put(r, c, factor * ((logit < 0 ? e : S(1)) / (1 + e) - wanted));
      }
      losses.data[r] = sum;
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                                 \
  template void binary_cross_entropy(Stream&, Input<T>, Input<T>, Tensor<Wide<T>>, Tensor<T>, \
                                     Tensor<T>, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
