#include "sinter/kernels/embedding.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/ranges.hpp"
#include "kernels/cpu/split.hpp"

namespace sinter::kernel {

template <class T>
void embedding_forward(Stream& stream, const std::int32_t* ids, const T* table, T* y, int rows,
                       int width) {
  split_rows(stream, rows, width, [&](int begin, int end) {
    for (std::int64_t r = begin; r < end; ++r)
      std::memcpy(y + r * width, table + std::int64_t(ids[r]) * width,
                  std::size_t(width) * sizeof(T));
  });
}

template <class T>
void embedding_backward(Stream& stream, const std::int32_t* ids, const T* dy, Wide<T>* dtable,
                        int rows, int vocabulary, int width, bool add) {
  split_columns(stream, rows + (add ? 0 : vocabulary), width, [&](int begin, int end) {
    if (!add)
      for (std::int64_t v = 0; v < vocabulary; ++v)
        std::fill(dtable + v * width + begin, dtable + v * width + end, Wide<T>(0));
    for (std::int64_t r = 0; r < rows; ++r) {
      accumulate_range(dy + r * width + begin, dtable + std::int64_t(ids[r]) * width + begin,
                       end - begin);
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

template <class T>
void position_backward(Stream& stream, const T* dy, const std::int32_t* starts, int sequences,
                       Wide<T>* dtable, int positions, int width, bool add) {
  split_rows(stream, positions, width * (sequences + 1), [&](int begin, int end) {
    for (std::int64_t p = begin; p < end; ++p) {
      Wide<T>* to = dtable + p * width;
      if (!add) std::fill_n(to, width, Wide<T>(0));
      for (int s = 0; s < sequences; ++s)
        if (starts[s] + p < starts[s + 1])
          accumulate_range(dy + (starts[s] + p) * width, to, width);
    }
  });
}

#define SINTER_INSTANTIATE(T)                                                                      \
  template void embedding_forward(Stream&, const std::int32_t*, const T*, T*, int, int);           \
  template void embedding_backward(Stream&, const std::int32_t*, const T*, Wide<T>*, int, int,     \
                                   int, bool);                                                     \
  template void position_forward(Stream&, const T*, const T*, const std::int32_t*, int, T*, int);  \
  template void position_backward(Stream&, const T*, const std::int32_t*, int, Wide<T>*, int, int, \
                                  bool);
SINTER_INSTANTIATE(float)
SINTER_INSTANTIATE(double)
SINTER_INSTANTIATE(BFloat16)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
