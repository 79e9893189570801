// Single-threaded pieces that several kernels share. Each call picks the best instruction set.
#pragma once
#include <cstdint>

namespace sinter::kernel {

/// y[i] = a[i] + b[i].   Defined in elementwise.cpp.
template <class T>
void add_range(const T* a, const T* b, T* y, std::int64_t n);

}  // namespace sinter::kernel
