// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include "device/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Partial sums: their number and borders depend on n alone.
constexpr int threads = 256, group_size = 4096;
constexpr std::int64_t most_groups = 1024;
static_assert((most_groups + 1) * sizeof(double) <= Stream::Pool::scratch_bytes);

template <bool Square, class T>
__device__ double summand(T x) {
  const double value = double(Wide<T>(x));
  return Square ? value * value : value;
}

/// Each thread has four sums, so that its loads do not wait for each other.
template <bool Square, class T>
__global__ void sum_groups(const T* x, std::int64_t n, double* partial) {
  const std::int64_t groups = gridDim.x, me = blockIdx.x;
  const std::int64_t end = n * (me + 1) / groups;
  std::int64_t i = n * me / groups + threadIdx.x;
  double a = 0, b = 0, c = 0, d = 0;
  for (; i + 3 * threads < end; i += 4 * threads) {
    a += summand<Square>(x[i]);
    b += summand<Square>(x[i + threads]);
    c += summand<Square>(x[i + 2 * threads]);
    d += summand<Square>(x[i + 3 * threads]);
  }
  for (; i < end; i += threads) a += summand<Square>(x[i]);
  const double sum = block_sum((a + b) + (c + d), shared_memory<double>());
  if (threadIdx.x == 0) partial[me] = sum;
}

__global__ void sum_partial(const double* partial, int groups, double* result, bool add) {
  double sum = 0;
  for (int g = int(threadIdx.x); g < groups; g += threads) sum += partial[g];
  sum = block_sum(sum, shared_memory<double>());
  if (threadIdx.x == 0) *result = add ? *result + sum : sum;
}

template <class T>
__global__ void scale_to_unit(T* x, std::int64_t n, const double* squares, Told<double> least) {
  const double norm = sqrt(*squares);
  const T factor = T(1 / (norm < *least ? *least : norm));
  for_each_element(n, [=](std::int64_t i) { x[i] *= factor; });
}

/// Where the partial sums are, and behind them a sum.
double* scratch_of(Stream& stream) { return reinterpret_cast<double*>(stream.device().scratch); }

template <bool Square, class T>
void sum_to(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const std::int64_t groups = std::min((n + group_size - 1) / group_size, most_groups);
  const int room = threads / warp * int(sizeof(double));
  double* partial = scratch_of(stream);
  launch(stream, {unsigned(groups), threads, room}, sum_groups<Square, T>, x, n, partial);
  launch(stream, {1, threads, room}, sum_partial, partial, int(groups), result, add);
}

}  // namespace

template <class T>
void sum_of_squares(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  sum_to<true>(stream, x, n, result, add);
}

template <class T>
void sum(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  sum_to<false>(stream, x, n, result, add);
}

template <class T>
void scale_to_unit_norm(Stream& stream, T* x, std::int64_t n, double least) {
  double* squares = scratch_of(stream) + most_groups;
  sum_to<true>(stream, static_cast<const T*>(x), n, squares, false);
  launch(stream, grid_of_elements(n), scale_to_unit<T>, x, n, squares, stream.device().tell(least));
}

#define SINTER_INSTANTIATE(T)                                                   \
  template void sum_of_squares(Stream&, const T*, std::int64_t, double*, bool); \
  template void sum(Stream&, const T*, std::int64_t, double*, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void scale_to_unit_norm(Stream&, float*, std::int64_t, double);
template void scale_to_unit_norm(Stream&, double*, std::int64_t, double);

}  // namespace sinter::kernel
