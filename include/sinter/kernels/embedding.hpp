// Rows of a table: tokens and positions. T: float, double, BFloat16 or Float16; G, of
// gradients of tables: Wide<T>, or T, then summed in Wide<T> and rounded once. The same bits for
// every number of threads. Forward passes copy, or round each sum once. Errors of gradients:
// √m ε Σ|dy|, m being the number of summands and ε the epsilon of Wide<T>.
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// y[r] = table[ids[r]].   y: rows × width; every id lies within the table.
template <class T>
void embedding_forward(Stream& stream, const std::int32_t* ids, const T* table, T* y, int rows,
                       int width);

/// Integers that embedding_backward needs as scratch, for gradients of type G.
template <class G>
constexpr std::int64_t embedding_scratch(std::int64_t rows, int vocabulary) {
  return is_narrow<G> ? rows + vocabulary : 0;
}

/// dtable[v] = Σ_{r: ids[r] = v} dy[r], or += with `add`.   dy: rows × width, dtable: vocabulary ×
/// width. Summed in the order of the rows. scratch: embedding_scratch<G>(rows, vocabulary)
/// integers.
template <class T, class G>
void embedding_backward(Stream& stream, const std::int32_t* ids, const T* dy, G* dtable, int rows,
                        int vocabulary, int width, bool add, std::int32_t* scratch);

/// y[r] = x[r] + table[position of r in its sequence].   Sequence s is rows [starts[s], starts[s +
/// 1]); x, y: starts[sequences] × width, may be the same; no sequence is longer than the table.
template <class T>
void position_forward(Stream& stream, const T* x, const T* table, const std::int32_t* starts,
                      int sequences, T* y, int width);

/// dtable[p] = Σ_s dy[starts[s] + p] over the sequences that have a position p, or += with `add`.
/// dtable: positions × width.
template <class T, class G>
void position_backward(Stream& stream, const T* dy, const std::int32_t* starts, int sequences,
                       G* dtable, int positions, int width, bool add);

}  // namespace sinter::kernel
