// SPDX-License-Identifier: Apache-2.0
// The language that kernels for CUDA are written in: nvcc's, or the same on the host.
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>
/// In front of a loop: it is unrolled as a whole, so that what it indexes lies in registers.
#define SINTER_UNROLL _Pragma("unroll")
/// In front of a loop: unrolls it by this number of passes.
#define SINTER_UNROLL_BY(N) _Pragma(SINTER_TEXT(unroll N))
#define SINTER_TEXT(words) #words
#else
#include "emulated/device/emulation.hpp"
#define SINTER_UNROLL
#define SINTER_UNROLL_BY(N)
#endif
