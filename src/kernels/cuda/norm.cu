// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Partial sums; their number and borders depend only on n.
constexpr int threads = 256, group_size = 4096;
constexpr std::int64_t max_groups = 1024;
static_assert((max_groups + 1) * sizeof(double) <= Stream::Pool::scratch_bytes);

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

/// The most thread blocks of add_squares, and how many neighbours' squares are added before they go into bins.
constexpr std::int64_t max_bin_groups = 4 * 132;
constexpr int together = 16;

/// What a thread block has of a BinnedSum.
struct Bins {
  unsigned long long whole[std::size_t(BinnedSum::count)];
  double beyond;  ///< infinite, or not a number, if a summand is
};
static_assert(max_bin_groups * sizeof(Bins) <= Stream::Pool::scratch_bytes);

/// What a thread has of three neighbouring bins, and which the first is: squares of like numbers mostly go
/// into the same ones, for which threads would wait for each other.
struct Window {
  int first = 0;
  unsigned long long whole[3] = {};

  /// Adds a sum ≥ 0, in whatever order others are.
  __device__ void add(double sum, Bins& bins) {
    if (!(sum < 0x1p320)) {
      atomicAdd(&bins.beyond, sum * 0x1p1000);
      return;
    }
    const auto bits = std::bit_cast<unsigned long long>(sum), hidden = 1ull << 52;
    const int exponent = int(bits >> 52);
    unsigned long long digits = (bits & (hidden - 1)) | (exponent > 0 ? hidden : 0);
    int place = (exponent > 0 ? exponent : 1) - 1075 - BinnedSum::lowest;
    if (place < 0) {
      digits = place > -64 ? digits >> -place : 0;
      place = 0;
    }
    const int k = place / BinnedSum::width, shift = place % BinnedSum::width;
    if (k != first) put(bins, k);
    const unsigned long long low = digits << shift, high = shift > 0 ? digits >> (64 - shift) : 0;
    whole[0] += low & 0xffffffffu;
    whole[1] += low >> BinnedSum::width;
    whole[2] += high;
  }
  /// Adds what it has to the bins, and begins others.
  __device__ void put(Bins& bins, int next) {
    SINTER_UNROLL
    for (int p = 0; p < 3; ++p) {
      if (whole[p] != 0) atomicAdd(&bins.whole[first + p], whole[p]);
      whole[p] = 0;
    }
    first = next;
  }
};

/// Σ x² of neighbours, in halves: of those that are 8 apart, 4 apart, and so on.
template <class T>
__device__ double squares_of(const T* x, int n) {
  double sums[together / 2];
  SINTER_UNROLL
  for (int k = 0; k < together / 2; ++k) {
    const double low = k < n ? double(Wide<T>(x[k])) : 0;
    const double high = k + together / 2 < n ? double(Wide<T>(x[k + together / 2])) : 0;
    sums[k] = fused(high, high, low * low);
  }
  SINTER_UNROLL
  for (int half = together / 4; half > 0; half /= 2) {
    SINTER_UNROLL
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  return sums[0];
}

template <class T>
__global__ void bin_groups(const T* x, std::int64_t n, Bins* partial) {
  Bins& bins = *shared_memory<Bins>();
  const int me = int(threadIdx.x);
  if (me < BinnedSum::count) bins.whole[me] = 0;
  if (me == 0) bins.beyond = 0;
  __syncthreads();
  const std::int64_t all = (n + together - 1) / together, group = blockIdx.x, groups = gridDim.x;
  const std::int64_t end = all * (group + 1) / groups;
  const bool packs = may_be_packs(x);
  Window window;
  for (std::int64_t i = all * group / groups + me; i < end; i += threads) {
    const std::int64_t at = i * together, left = n - at;
    if (packs && left >= together) {
      const Pack<T, together> mine = load_pack<together>(x + at);
      window.add(squares_of(mine.x, together), bins);
    } else {
      window.add(squares_of(x + at, left < together ? int(left) : together), bins);
    }
  }
  window.put(bins, 0);
  __syncthreads();
  if (me < BinnedSum::count) partial[group].whole[me] = bins.whole[me];
  if (me == 0) partial[group].beyond = bins.beyond;
}

/// One warp.
__global__ void add_bins(const Bins* partial, int groups, BinnedSum* sum) {
  Bins& all = *shared_memory<Bins>();
  const int me = int(threadIdx.x);
  unsigned long long whole = 0;
  double beyond = 0;
  for (int g = 0; g < groups; ++g) {
    if (me < BinnedSum::count) whole += partial[g].whole[me];
    beyond += partial[g].beyond;
  }
  if (me < BinnedSum::count) all.whole[me] = whole;
  __syncthreads();
  if (me > 0) return;
  unsigned long long carry = 0;
  for (int k = 0; k < BinnedSum::count; ++k) {
    carry += all.whole[k];
    const unsigned long long above = k + 1 < BinnedSum::count ? carry >> BinnedSum::width : 0;
    sum->bins[k] += double(carry - (above << BinnedSum::width));
    carry = above;
  }
  sum->bins[BinnedSum::count - 1] += beyond;
}

template <class T>
__global__ void scale_to_unit(T* x, std::int64_t n, const double* squares, Argument<double> least) {
  const double norm = sqrt(*squares);
  const T factor = T(1 / (norm < *least ? *least : norm));
  for_each_element(n, [=](std::int64_t i) { x[i] *= factor; });
}

/// Where the partial sums are, and behind them a sum.
double* scratch_of(Stream& stream) { return reinterpret_cast<double*>(stream.device().scratch); }

template <bool Square, class T>
void sum_to(Stream& stream, const T* x, std::int64_t n, double* result, bool add) {
  const std::int64_t groups = std::min((n + group_size - 1) / group_size, max_groups);
  const int room = threads / warp * int(sizeof(double));
  double* partial = scratch_of(stream);
  launch(stream, {unsigned(groups), threads, room}, sum_groups<Square, T>, x, n, partial);
  launch(stream, {1, threads, room}, sum_partial, partial, int(groups), result, add);
}

}  // namespace

template <class T>
void add_squares(Stream& stream, const T* x, std::int64_t n, BinnedSum* sum) {
  const std::int64_t groups = std::min((n + group_size - 1) / group_size, max_bin_groups);
  if (groups == 0) return;
  auto* const partial = reinterpret_cast<Bins*>(stream.device().scratch);
  launch(stream, {unsigned(groups), threads, int(sizeof(Bins))}, bin_groups<T>, x, n, partial);
  launch(stream, {1, warp, int(sizeof(Bins))}, add_bins, partial, int(groups), sum);
}

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
  double* squares = scratch_of(stream) + max_groups;
  sum_to<true>(stream, static_cast<const T*>(x), n, squares, false);
  launch(stream, grid_of_elements(n), scale_to_unit<T>, x, n, squares,
         stream.device().argument(least));
}

#define SINTER_INSTANTIATE(T)                                                   \
  template void add_squares(Stream&, const T*, std::int64_t, BinnedSum*);       \
  template void sum_of_squares(Stream&, const T*, std::int64_t, double*, bool); \
  template void sum(Stream&, const T*, std::int64_t, double*, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void scale_to_unit_norm(Stream&, float*, std::int64_t, double);
template void scale_to_unit_norm(Stream&, double*, std::int64_t, double);

}  // namespace sinter::kernel
