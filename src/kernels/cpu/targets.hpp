// The instruction sets that each kernel is compiled for, and how the best that the machine has is
// picked at run time. To be included before any header of Highway.
#pragma once
#include <type_traits>

#include "sinter/kernels/bfloat16.hpp"

// SSSE3 and the later AVX-512 extensions would only cost compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

/// Each instruction set's namespace defines table_f32() and table_f64(), which return a
/// Table<float> and a Table<double> of its functions. Defines table<T>(), the best one's. With
/// SINTER_DISPATCH_BF16 also table_bf16() and a Table<BFloat16>.
#define SINTER_DISPATCH(Table)                  \
  HWY_EXPORT(table_f32);                        \
  HWY_EXPORT(table_f64);                        \
  template <class T>                            \
  Table<T> table() {                            \
    if constexpr (std::is_same_v<T, float>) {   \
      return HWY_DYNAMIC_DISPATCH(table_f32)(); \
    } else {                                    \
      return HWY_DYNAMIC_DISPATCH(table_f64)(); \
    }                                           \
  }
#define SINTER_DISPATCH_BF16(Table)            \
  SINTER_DISPATCH(Table)                       \
  HWY_EXPORT(table_bf16);                      \
  template <>                                  \
  Table<BFloat16> table<BFloat16>() {          \
    return HWY_DYNAMIC_DISPATCH(table_bf16)(); \
  }
