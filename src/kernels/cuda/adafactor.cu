// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adafactor.hpp"

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/optimizer_step.hpp"
#include "sinter/kernels/norm.hpp"

namespace sinter::kernel {
namespace {

constexpr int threads = 256, rows_of_block = threads / warp;
constexpr int max_row_blocks = 32, min_row_block = 16;
constexpr int part = 1024;  // elements of a vector that are summed together
static_assert(adafactor_scratch(2, 2) == max_row_blocks * 2 + 2);

/// Sums over the tensor. They lie in the stream's scratch, behind what the kernels of norm.hpp use.
struct Sums {
  double parameters;  // Σ p²
  double rows;        // Σ row_square
  double updates;     // Σ u², before it is clipped
};
constexpr std::size_t sums_at = Stream::Pool::scratch_bytes / 2;

struct Size {
  std::int32_t rows, columns;
  __device__ double n() const { return double(rows) * columns; }
};

/// The gradient as the step takes it.
struct Gradient {
  float scale, eps;
  __device__ explicit Gradient(const AdafactorStep& step)
      : scale(float(step.decision ? step.decision->scale : 1)),
        eps(float(step.options.eps_square)) {}
  __device__ float squared(float g) const { return fused(g * scale, g * scale, eps); }
};

/// The moving mean of a second moment.
__device__ float moved(float before, double now, const AdafactorStep& step) {
  return float(step.beta2 * before + (1 - step.beta2) * now);
}

/// A warp has a row.
__global__ void move_rows(const float* gradient, float* row_square, Size size,
                          Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= size.rows) return;
  float sum = 0;
  for (int c = lane; c < size.columns; c += warp)
    sum += of.squared(gradient[std::int64_t(row) * size.columns + c]);
  sum = warp_sum(sum);
  if (lane == 0) row_square[row] = moved(row_square[row], double(sum) / size.columns, *argument);
}

/// Sums of blocks of rows. A thread has a column of a block.
__global__ void sum_row_blocks(const float* gradient, Size size, int block, float* partial,
                               Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const int column = int(blockIdx.x) * threads + int(threadIdx.x);
  if (column >= size.columns) return;
  const int first = int(blockIdx.y) * block;
  float sum = 0;
  for (int r = first; r < first + block && r < size.rows; ++r)
    sum += of.squared(gradient[std::int64_t(r) * size.columns + column]);
  partial[std::int64_t(blockIdx.y) * size.columns + column] = sum;
}

/// 1 / √column_square takes the place of the first block's sums.
__global__ void move_columns(float* partial, int blocks, float* column_square, Size size,
                             Argument<AdafactorStep> argument) {
  const int column = int(blockIdx.x) * threads + int(threadIdx.x);
  if (column >= size.columns) return;
  float sum = 0;
  for (int b = 0; b < blocks; ++b) sum += partial[std::int64_t(b) * size.columns + column];
  column_square[column] = moved(column_square[column], double(sum) / size.rows, *argument);
  partial[column] = 1 / sqrtf(column_square[column]);
}

__device__ double row_factor(const float* row_square, int row, const Sums& sums, Size size) {
  return 1 / sqrt(row_square[row] / (sums.rows / size.rows));
}

/// totals: Σ u² of each row. A warp has a row.
__global__ void sum_updates(const float* gradient, const float* row_square, const float* factors,
                            const Sums* sums, float* totals, Size size,
                            Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= size.rows) return;
  float sum = 0;
  for (int c = lane; c < size.columns; c += warp) {
    const float u = gradient[std::int64_t(row) * size.columns + c] * of.scale * factors[c];
    sum += u * u;
  }
  sum = warp_sum(sum);
  const double factor = row_factor(row_square, row, *sums, size);
  if (lane == 0) totals[row] = float(sum * factor * factor);
}

/// Parameters, with what follows from them.
template <class C>
struct Parameters {
  float *master, *mean;
  C* copy;

  /// p = decay p - u.
  __device__ void put(std::int64_t i, float u, float decay, const AdafactorStep& step) const {
    if (mean)
      mean[i] = u = fused(mean[i], float(step.options.beta1), u * float(1 - step.options.beta1));
    const float p = master[i] * decay - u;
    master[i] = p;
    if (copy) copy[i] = C(p);
  }
};

/// α, and α / max(1, R(u) / clip_threshold).
struct Rates {
  double whole, clipped;

  __device__ Rates(const Sums& sums, Size size, const AdafactorStep& step) : whole(step.lr) {
    if (step.options.scale_parameter) {
      const double scale = sqrt(sums.parameters / size.n());
      whole *= scale < step.options.eps_scale ? step.options.eps_scale : scale;
    }
    const double excess = sqrt(sums.updates / size.n()) / step.options.clip_threshold;
    clipped = excess > 1 ? whole / excess : whole;  // a NaN clips nothing
  }
};

/// A warp has a row.
template <class C>
__global__ void apply_to_rows(Parameters<C> to, const float* gradient, const float* row_square,
                              const float* factors, const Sums* sums, Size size,
                              Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const int row = int(blockIdx.x) * rows_of_block + int(threadIdx.x) / warp;
  if (row >= size.rows) return;
  const Rates rates(*sums, size, *argument);
  const float decay = float(1 - rates.whole * argument->weight_decay);
  const float factor = float(rates.clipped * row_factor(row_square, row, *sums, size));
  for (int c = int(threadIdx.x) % warp; c < size.columns; c += warp) {
    const std::int64_t i = std::int64_t(row) * size.columns + c;
    to.put(i, gradient[i] * of.scale * factors[c] * factor, decay, *argument);
  }
}

/// Moves the second moments of a vector. A block has a part, and sums its u².
__global__ void move_parts(const float* gradient, float* square, float* totals, std::int64_t n,
                           Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const std::int64_t first = std::int64_t(blockIdx.x) * part;
  float sum = 0;
  for (std::int64_t i = first + threadIdx.x; i < first + part && i < n; i += threads) {
    const float g = gradient[i] * of.scale;
    square[i] = fused(square[i], float(argument->beta2),
                      of.squared(gradient[i]) * float(1 - argument->beta2));
    const float u = g * (1 / sqrtf(square[i]));
    sum += u * u;
  }
  sum = block_sum(sum, shared_memory<float>());
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
}

template <class C>
__global__ void apply_to_vector(Parameters<C> to, const float* gradient, const float* square,
                                const Sums* sums, Size size, Argument<AdafactorStep> argument) {
  const Gradient of(*argument);
  const Rates rates(*sums, size, *argument);
  const float decay = float(1 - rates.whole * argument->weight_decay), rate = float(rates.clipped);
  for_each_element(std::int64_t(size.rows) * size.columns, [&](std::int64_t i) {
    to.put(i, gradient[i] * of.scale * (1 / sqrtf(square[i])) * rate, decay, *argument);
  });
}

/// One call.
template <class C>
struct Call : AdafactorMoments {
  const AdafactorStep step;
  const ParameterSpan<float, float, float, C>& span;
  Size size;
  Stream& stream = span.stream;
  const float* gradient = span.gradient;
  Parameters<C> to{span.master, mean, span.copy};
  Sums* sums = reinterpret_cast<Sums*>(stream.device().scratch + sums_at);

  Argument<AdafactorStep> argument() const { return stream.device().argument(step); }

  void matrix() const {
    const int block = std::max(int(blocks_of(size.rows, max_row_blocks)), min_row_block);
    const unsigned blocks = blocks_of(size.rows, block), across = blocks_of(size.columns, threads);
    const Grid of_rows{blocks_of(size.rows, rows_of_block), threads};
    float* totals = scratch + std::int64_t(max_row_blocks) * size.columns;
    launch(stream, of_rows, move_rows, gradient, row_square, size, argument());
    launch(stream, {{across, blocks}, threads}, sum_row_blocks, gradient, size, block, scratch,
           argument());
    launch(stream, {across, threads}, move_columns, scratch, int(blocks), column_square, size,
           argument());
    sum(stream, row_square, size.rows, &sums->rows);
    launch(stream, of_rows, sum_updates, gradient, row_square, scratch, sums, totals, size,
           argument());
    sum(stream, totals, size.rows, &sums->updates);
    launch(stream, of_rows, apply_to_rows<C>, to, gradient, row_square, scratch, sums, size,
           argument());
  }

  void vector() const {
    const std::int64_t n = std::int64_t(size.rows) * size.columns;
    const unsigned parts = blocks_of(n, part);
    launch(stream, {parts, threads, threads / warp * int(sizeof(float))}, move_parts, gradient,
           row_square, scratch, n, argument());
    sum(stream, scratch, parts, &sums->updates);
    launch(stream, grid_of_elements(n), apply_to_vector<C>, to, gradient, row_square, sums, size,
           argument());
  }
};

}  // namespace

template <class M, class G, class S, class C>
void adafactor(const AdafactorOptions& options, const ParameterSpan<M, G, S, C>& span,
               const AdafactorMoments& moments, int rows, int columns) {
  if (rows <= 0 || columns <= 0) return;
  const Call<C> call{moments, {options, span}, span, {rows, columns}};
  if (options.scale_parameter)
    sum_of_squares(span.stream, span.master, std::int64_t(rows) * columns, &call.sums->parameters);
  adafactor_factored(rows, columns) ? call.matrix() : call.vector();
}

#define SINTER_INSTANTIATE(C)                                                                    \
  template void adafactor(const AdafactorOptions&, const ParameterSpan<float, float, float, C>&, \
                          const AdafactorMoments&, int, int);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(BFloat16)
SINTER_INSTANTIATE(Float16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
