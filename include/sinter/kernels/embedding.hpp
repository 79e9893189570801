// SPDX-License-Identifier: Apache-2.0
// Rows of a table, looked up by token or by position. T: float, double, BFloat16 or Float16. G, the
// type of the tables' gradients, is Wide<T> or T: they are summed in Wide<T> and rounded once. The
// bits are the same for every number of threads. Forward passes copy, or round each sum once.
// Errors of gradients: √m ε Σ|dy|, with m the number of summands and ε the epsilon of Wide<T>.
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y[r] = table[ids[r]]. ids: one for each row of y, table: vocabulary × width, y: rows × width.
/// requires  every id lies within the table
template <class T>
void embedding_forward(Stream& stream, Input<std::int32_t> ids, Input<T> table, Tensor<T> y);

/// y[r] = x[r] + table[ids[r]]; if ids is empty, table[0] is added to each row. x, y: rows × width,
/// and may be the same.
/// requires  every id lies within the table
template <class T>
void add_embedding_forward(Stream& stream, Input<T> x, Input<std::int32_t> ids, Input<T> table,
                           Tensor<T> y);

/// Integers that embedding_backward needs as scratch, for gradients of type G.
template <class G>
constexpr std::int64_t embedding_scratch(std::int64_t rows, int vocabulary) {
  return is_narrow<G> ? rows + vocabulary : 0;
}

/// dtable[v] = Σ_{r: ids[r] = v} dy[r], or += with its add flag, summed in the order of the rows.
/// dy: rows × width, dtable: vocabulary × width, scratch: embedding_scratch<G>(rows, vocabulary)
/// integers.
template <class T, class G>
void embedding_backward(Stream& stream, Input<std::int32_t> ids, Tensor<const T> dy,
                        Tensor<G> dtable, std::int32_t* scratch);

/// y[r] = x[r] + table[position of r in its sequence]. x, y: rows × width, and may be the same;
/// table: positions × width.
/// requires  no sequence is longer than the table
template <class T>
void position_forward(Stream& stream, Input<T> x, Input<T> table, Sequences sequences, Tensor<T> y);

/// dtable[p] = Σ_s dy[starts[s] + p] over the sequences that have a position p, or += with its add
/// flag. dy: rows × width, dtable: positions × width.
template <class T, class G>
void position_backward(Stream& stream, Tensor<const T> dy, Sequences sequences, Tensor<G> dtable);

// Overloads for writable tensors: T is not deduced through a conversion.
template <class T, class G>
  requires(!std::is_const_v<T>)
void embedding_backward(Stream& stream, Input<std::int32_t> ids, Tensor<T> dy, Tensor<G> dtable,
                        std::int32_t* scratch) {
  embedding_backward<T, G>(stream, ids, Input<T>(dy), dtable, scratch);
}
template <class T, class G>
  requires(!std::is_const_v<T>)
void position_backward(Stream& stream, Tensor<T> dy, Sequences sequences, Tensor<G> dtable) {
  position_backward<T, G>(stream, Input<T>(dy), sequences, dtable);
}

}  // namespace sinter::kernel
