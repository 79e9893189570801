// SPDX-License-Identifier: Apache-2.0
// The instruction sets that each kernel is compiled for, and how the best that the machine has is
// picked at run time: include before any header of Highway.
#pragma once
#include <type_traits>

#include "kernels/elements.hpp"

// SSSE3 and the later AVX-512 extensions would only cost compile time. Kernels hold arrays of vectors,
// which those of SVE, whose size no compiler knows, cannot be in: ARM's have NEON.
#define SINTER_SCALABLE_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#if SINTER_FEW_TARGETS  // sanitizers make kernels slow to compile: the baseline and AVX-512
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3_DL | SINTER_SCALABLE_TARGETS)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | SINTER_SCALABLE_TARGETS)
#endif

/// To be used in each instruction set's namespace, where make_table<T>() returns a Table<T> of its
/// functions. SINTER_TABLES defines what SINTER_DISPATCH needs; SINTER_COPY_TABLES what
/// SINTER_COPY_DISPATCH needs, for kernels of fp32 whose T is that of a copy of the weights.
#define SINTER_COPY_TABLES(Table)                                 \
  Table<float> table_f32() { return make_table<float>(); }        \
  Table<BFloat16> table_bf16() { return make_table<BFloat16>(); } \
  Table<Float16> table_f16() { return make_table<Float16>(); }
#define SINTER_TABLES(Table) \
  SINTER_COPY_TABLES(Table)  \
  Table<double> table_f64() { return make_table<double>(); }

/// Defines table<T>(), which returns the table of the best instruction set.
#define SINTER_DISPATCH(Table)                          \
  HWY_EXPORT(table_f32);                                \
  HWY_EXPORT(table_f64);                                \
  HWY_EXPORT(table_bf16);                               \
  HWY_EXPORT(table_f16);                                \
  template <class T>                                    \
  Table<T> table() {                                    \
    if constexpr (std::is_same_v<T, float>) {           \
      return HWY_DYNAMIC_DISPATCH(table_f32)();         \
    } else if constexpr (std::is_same_v<T, double>) {   \
      return HWY_DYNAMIC_DISPATCH(table_f64)();         \
    } else if constexpr (std::is_same_v<T, BFloat16>) { \
      return HWY_DYNAMIC_DISPATCH(table_bf16)();        \
    } else {                                            \
      static_assert(std::is_same_v<T, Float16>);        \
      return HWY_DYNAMIC_DISPATCH(table_f16)();         \
    }                                                   \
  }

#define SINTER_COPY_DISPATCH(Table)                     \
  HWY_EXPORT(table_f32);                                \
  HWY_EXPORT(table_bf16);                               \
  HWY_EXPORT(table_f16);                                \
  template <class C>                                    \
  Table<C> table() {                                    \
    if constexpr (std::is_same_v<C, float>) {           \
      return HWY_DYNAMIC_DISPATCH(table_f32)();         \
    } else if constexpr (std::is_same_v<C, BFloat16>) { \
      return HWY_DYNAMIC_DISPATCH(table_bf16)();        \
    } else {                                            \
      static_assert(std::is_same_v<C, Float16>);        \
      return HWY_DYNAMIC_DISPATCH(table_f16)();         \
    }                                                   \
  }
