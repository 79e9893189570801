#include "sinter/kernels/embedding.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/split.hpp"

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
void embedding_forward(Stream& stream, const std::int32_t* ids, const T* table, T* y, int rows,
                       int width) {
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      std::memcpy(y + r * width, table + std::int64_t(ids[r]) * width,
                  std::size_t(width) * sizeof(T));
  });
}

template <class T, class G>
void embedding_backward(Stream& stream, const std::int32_t* ids, const T* dy, G* dtable, int rows,
                        int vocabulary, int width, bool add, std::int32_t* scratch) {
  if constexpr (is_narrow<G>) {
    const RowsById rows_of(ids, rows, vocabulary, scratch);
    split_columns(stream, rows + (add ? 0 : vocabulary), width, [&](int begin, int end) {
      for (std::int64_t v = 0; v < vocabulary; ++v) {
        if (add && rows_of.first[v] < 0) continue;
        in_wide<Wide<T>>(dtable + v * width + begin, end - begin, add,
                         [&](Wide<T>* sums, std::int64_t at, std::int64_t count) {
                           for (std::int64_t r = rows_of.first[v]; r >= 0; r = rows_of.next[r])
                             put_range(dy + r * width + begin + at, sums, count, true);
                         });
      }
    });
    return;
  }
  split_columns(stream, rows + (add ? 0 : vocabulary), width, [&](int begin, int end) {
    if (!add)
      for (std::int64_t v = 0; v < vocabulary; ++v)
        std::fill(dtable + v * width + begin, dtable + v * width + end, G(0));
    for (std::int64_t r = 0; r < rows; ++r) {
      put_range(dy + r * width + begin, dtable + std::int64_t(ids[r]) * width + begin, end - begin,
                true);
    }
  });
}

template <class T>
void position_forward(Stream& stream, const T* x, const T* table, const std::int32_t* starts,
                      int sequences, T* y, int width) {
  split_rows(stream, starts[sequences], width, [&](int begin, int end) {
    int s = int(std::upper_bound(starts, starts + sequences, begin) - starts) - 1;
    for (std::int64_t r = begin; r < end; ++r) {
      while (starts[s + 1] <= r) ++s;  // empty sequences are passed over
      add_range(x + r * width, table + (r - starts[s]) * width, y + r * width, width);
    }
  });
}

template <class T, class G>
void position_backward(Stream& stream, const T* dy, const std::int32_t* starts, int sequences,
                       G* dtable, int positions, int width, bool add) {
  split_rows(stream, positions, width * (sequences + 1), [&](int begin, int end) {
    for (std::int64_t p = begin; p < end; ++p) {
      in_wide<Wide<T>>(dtable + p * width, width, add,
                       [&](Wide<T>* sums, std::int64_t at, std::int64_t count) {
                         for (int s = 0; s < sequences; ++s)
                           if (starts[s] + p < starts[s + 1])
                             put_range(dy + (starts[s] + p) * width + at, sums, count, true);
                       });
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                            \
  template void embedding_forward(Stream&, const std::int32_t*, const T*, T*, int, int); \
  template void position_forward(Stream&, const T*, const T*, const std::int32_t*, int, T*, int);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                              \
  template void embedding_backward(Stream&, const std::int32_t*, const T*, G*, int, int, int, \
                                   bool, std::int32_t*);                                      \
  template void position_backward(Stream&, const T*, const std::int32_t*, int, G*, int, int, bool);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
