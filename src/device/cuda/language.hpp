// SPDX-License-Identifier: Apache-2.0
// The language that kernels for CUDA are written in: nvcc's, or the same on the host.
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "device/cuda/emulation.hpp"
#endif
