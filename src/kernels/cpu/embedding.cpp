// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/embedding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"

namespace sinter::kernel {

namespace {

/// The rows of each id, in order: first[id] is the first, next[r] the one after row r; -1: none.
struct RowsById {
  std::int32_t *first, *next;

  RowsById(const std::int32_t* ids, int rows, int vocabulary, std::int32_t* scratch)
      : first(scratch), next(scratch + vocabulary) {
    std::fill_n(first, vocabulary, -1);
    for (int r = rows; r-- > 0;) next[r] = std::exchange(first[ids[r]], r);
  }
};

}  // namespace

template <class T>
void embedding_forward(Stream& stream, Input<std::int32_t> ids, Input<T> table, Tensor<T> y) {
  const int width = y.columns;
  split_rows(stream, y.rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      std::memcpy(y.data + r * width, table.data + std::int64_t(ids.data[r]) * width,
                  std::size_t(width) * sizeof(T));
  });
}

template <class T>
void add_embedding_forward(Stream& stream, Input<T> x, Input<std::int32_t> ids, Input<T> table,
                           Tensor<T> y) {
  const int width = y.columns;
  split_rows(stream, y.rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t id = ids ? ids.data[r] : 0;
      add_range(x.data + r * width, table.data + id * width, y.data + r * width, width);
    }
  });
}

template <class T, class G>
void embedding_backward(Stream& stream, Input<std::int32_t> ids, Tensor<const T> dy,
                        Tensor<G> dtable, std::int32_t* scratch) {
  const int rows = dy.rows, vocabulary = dtable.rows, width = dy.columns;
  const bool add = dtable.add;
  if constexpr (is_narrow<G>) {
    const RowsById rows_of(ids.data, rows, vocabulary, scratch);
    split_columns(stream, rows + (add ? 0 : vocabulary), width, [&](int begin, int end) {
      for (std::int64_t v = 0; v < vocabulary; ++v) {
        if (add && rows_of.first[v] < 0) continue;
        in_wide<Wide<T>>(dtable.data + v * width + begin, end - begin, add,
                         [&](Wide<T>* sums, std::int64_t at, std::int64_t count) {
                           for (std::int64_t r = rows_of.first[v]; r >= 0; r = rows_of.next[r])
                             put_range(dy.data + r * width + begin + at, sums, count, true);
                         });
      }
    });
    return;
  }
  split_columns(stream, rows + (add ? 0 : vocabulary), width, [&](int begin, int end) {
    if (!add)
      for (std::int64_t v = 0; v < vocabulary; ++v)
        std::fill(dtable.data + v * width + begin, dtable.data + v * width + end, G(0));
    for (std::int64_t r = 0; r < rows; ++r) {
      put_range(dy.data + r * width + begin,
                dtable.data + std::int64_t(ids.data[r]) * width + begin, end - begin, true);
    }
  });
}

template <class T>
void position_forward(Stream& stream, Input<T> x, Input<T> table, Sequences sequences,
                      Tensor<T> y) {
  const std::int32_t* starts = sequences.starts;
  const int width = y.columns;
  split_rows(stream, y.rows, width, [&](int begin, int end) {
    int s = int(std::upper_bound(starts, starts + sequences.count, begin) - starts) - 1;
    for (std::int64_t r = begin; r < end; ++r) {
      while (starts[s + 1] <= r) ++s;  // empty sequences are passed over
      const std::int64_t position = r - starts[s] + (sequences.before ? sequences.before[s] : 0);
      add_range(x.data + r * width, table.data + position * width, y.data + r * width, width);
    }
  });
}

template <class T, class G>
void position_backward(Stream& stream, Tensor<const T> dy, Sequences sequences, Tensor<G> dtable) {
  const std::int32_t* starts = sequences.starts;
  const int width = dtable.columns;
  split_rows(stream, dtable.rows, width * (sequences.count + 1), [&](int begin, int end) {
    for (std::int64_t p = begin; p < end; ++p) {
      in_wide<Wide<T>>(dtable.data + p * width, width, dtable.add,
                       [&](Wide<T>* sums, std::int64_t at, std::int64_t count) {
                         for (int s = 0; s < sequences.count; ++s)
                           if (starts[s] + p < starts[s + 1])
                             put_range(dy.data + (starts[s] + p) * width + at, sums, count, true);
                       });
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                           \
  template void embedding_forward(Stream&, Input<std::int32_t>, Input<T>, Tensor<T>);   \
  template void add_embedding_forward(Stream&, Input<T>, Input<std::int32_t>, Input<T>, \
                                      Tensor<T>);                                       \
  template void position_forward(Stream&, Input<T>, Input<T>, Sequences, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                             \
  template void embedding_backward(Stream&, Input<std::int32_t>, Tensor<const T>, Tensor<G>, \
                                   std::int32_t*);                                           \
  template void position_backward(Stream&, Tensor<const T>, Sequences, Tensor<G>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
