// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/average.hpp"

#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

template <class T>
__global__ void move_elements(const T* x, Wide<T>* average, Argument<Wide<T>> argument,
                              std::int64_t n) {
  const Wide<T> weight = *argument;
  for_each_element(n, [=](std::int64_t i) {
    const Wide<T> a = average[i];
    average[i] = fused(weight, Wide<T>(x[i]) - a, a);
  });
}

}  // namespace

template <class T>
void move_average(Stream& stream, const T* x, Wide<T>* average, double weight, std::int64_t n) {
  launch(stream, grid_of_elements(n), move_elements<T>, x, average,
         stream.device().argument(Wide<T>(weight)), n);
}

#define SINTER_INSTANTIATE(T) \
  template void move_average(Stream&, const T*, Wide<T>*, double, std::int64_t);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
