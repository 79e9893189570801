#include "sinter/kernels/pool.hpp"

#include <algorithm>

#include "kernels/cpu/elements.hpp"

namespace sinter::kernel {

template <class T>
void last_rows(Stream& stream, const T* x, const std::int32_t* starts, int sequences, T* y,
               int width) {
  stream.parallel(sequences, [=](int s) {
    const T* row = x + std::int64_t(starts[s + 1] - 1) * width;
    std::copy_n(row, width, y + std::int64_t(s) * width);
  });
}

template <class T>
void last_rows_backward(Stream& stream, const T* dy, const std::int32_t* starts, int sequences,
                        T* dx, int width, bool add) {
  stream.parallel(sequences, [=](int s) {
    T* first = dx + std::int64_t(starts[s]) * width;
    T* last = dx + std::int64_t(starts[s + 1] - 1) * width;
    if (!add) std::fill(first, last + width, T(0));
    for (int i = 0; i < width; ++i) last[i] = T(last[i] + dy[std::int64_t(s) * width + i]);
  });
}

#define SINTER_INSTANTIATE(T)                                                    \
  template void last_rows(Stream&, const T*, const std::int32_t*, int, T*, int); \
  template void last_rows_backward(Stream&, const T*, const std::int32_t*, int, T*, int, bool);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
