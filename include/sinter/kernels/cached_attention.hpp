// SPDX-License-Identifier: Apache-2.0
// Attention of rows that continue texts. Keys and values of the rows before them lie in a key-value
// cache, so each row of a text passes through a model only once. T: float, double, BFloat16 or
// Float16. The bits are the same for every number of threads, and for any other sequences beside.
//
// Errors: those of y in attention.hpp, without its cases of products of BFloat16 pairs.
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// Rows of a slot of a cache are a multiple of this. Keys of so many rows lie column by column, so
/// that one vector holds a column of all of them.
inline constexpr int cache_block = 16;

/// What is kept of earlier rows of texts. Each text, or hypothesis of a beam search, writes to a slot,
/// which has room for `rows` rows of `width` elements. Row p of a text lies in row p mod `rows`.
template <class T>
struct Cache {
  T* data = nullptr;       ///< slots × rows × width elements; the layer decides on their order
  std::int32_t rows = 0;   ///< rows of a slot, a multiple of cache_block
  std::int32_t width = 0;  ///< elements of a row
  /// The slot to which each sequence writes, in device memory.
  const std::int32_t* slots = nullptr;
  /// Where earlier rows lie, in device memory: row p of sequence s lies in slot
  /// sources[s × source_rows + p]. If null, all rows of a sequence lie in its own slot.
  const std::int32_t* sources = nullptr;
  std::int32_t source_rows = 0;  ///< numbers of `sources` for each sequence

  /// Elements of a slot.
  constexpr std::int64_t slot_size() const { return std::int64_t(rows) * width; }
  /// Row p of a text in a slot, for a layer whose rows lie one behind the other.
  T* row(int slot, int p) const {
    return data + slot * slot_size() + std::int64_t(p % rows) * width;
  }
  /// The slot in which row p of the text of sequence s lies. On the CPU.
  int slot_of(int s, int p) const {
    return sources ? sources[std::int64_t(s) * source_rows + p] : slots[s];
  }
};

/// y = softmax(q kᵀ / √d) v for each head of each row, d = width / heads, over the rows of its text up
/// to itself, or the nearest `window` of them if window > 0. Writes keys and values of the rows to
/// the cache, and reads those of sequences.before rows from it.
///   qkv      as in attention_forward()
///   y        rows × width
///   cache    rows of 2 key_width elements
/// requires  sequences.before; each text has at most cache.rows rows, or the window and the rows of a
///           sequence but one are together at most that
template <class T>
void cached_attention(Stream& stream, Input<T> qkv, Tensor<T> y, Cache<T> cache,
                      Sequences sequences, int heads, int window);

/// y = softmax(q kᵀ / √d) v for each head of each row of q, over all rows of its text on the other
/// side. Writes the rows of kv to the cache first, behind keys.before rows.
///   q, kv, y  as in cross_attention_forward(); kv may have no rows
///   cache     rows of 2 width elements
/// requires  keys.before; each text has between 1 and cache.rows rows on the other side
template <class T>
void cached_cross_attention(Stream& stream, Input<T> q, Input<T> kv, Tensor<T> y, Cache<T> cache,
                            Sequences queries, Sequences keys, int heads);

}  // namespace sinter::kernel
