// Single-threaded pieces that several kernels share. Each call picks the best instruction set.
#pragma once
#include <cstdint>

#include "sinter/kernels/bfloat16.hpp"

namespace sinter::kernel {

/// y[i] = a[i] + b[i].   Defined in elementwise.cpp.
template <class T>
void add_range(const T* a, const T* b, T* y, std::int64_t n);

/// y[i] += a[i].   Defined in elementwise.cpp.
template <class T>
void accumulate_range(const T* a, Wide<T>* y, std::int64_t n);

/// y[i] = x[i], rounded, or += with `add`. y may begin where x does.   Defined in elementwise.cpp.
template <class T>
void put_range(const Wide<T>* x, T* y, std::int64_t n, bool add);

}  // namespace sinter::kernel
