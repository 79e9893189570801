// SPDX-License-Identifier: Apache-2.0
// A product as cuBLASLt has it, and which of its algorithms computes it.
#pragma once
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "hardware/cuda/errors.hpp"
#include "hardware/cuda/launch.hpp"

namespace sinter::kernel {

inline void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(
      std::string("a product failed on the card: cuBLASLt says \"") +
      cublasLtGetStatusString(status) +
      "\". What was computed since the last checkpoint is lost; start again with --resume.");
}

/// The largest power of two, up to 256, that divides an address.
inline std::int64_t alignment_of(const void* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return std::int64_t(std::min<std::uintptr_t>(address & (~address + 1), 256));
}

/// An algorithm. (Containers of cuBLASLt's own type, which has no name but a typedef's, stop nvcc 13.0
/// with an internal error.)
struct Algorithm {
  cublasLtMatmulAlgo_t raw;
};

/// result = factor first second + beta result
struct Product {
  cublasLtMatmulDesc_t what = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  const void *first_data = nullptr, *second_data = nullptr;
  void* result_data = nullptr;
  std::size_t result_bytes = 0;  // to the end of the result's last row
  const void *factor = nullptr, *beta = nullptr;

  Product(cublasComputeType_t unit, cudaDataType_t scale) {
    check(cublasLtMatmulDescCreate(&what, unit, scale));
  }
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(what);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  template <class V>
  void set(cublasLtMatmulDescAttributes_t attribute, const V& value) {
    check(cublasLtMatmulDescSetAttribute(what, attribute, &value, sizeof value));
  }
  /// Launches it on a stream of the device's card, with its result `into` such memory.
  cublasStatus_t launch_on(cudaStream_t raw, Stream::Pool& device, const Algorithm& algorithm,
                           void* into) const {
    return cublasLtMatmul(device.library, what, factor, first_data, first, second_data, second,
                          beta, into, result, into, result, &algorithm.raw, device.workspace,
                          Stream::Pool::workspace_bytes, raw);
  }
};

/// The facts on which the choice of an algorithm depends, beside the card and the library.
using ProductKey = std::array<std::int64_t, 16>;

/// The algorithm for the products of a key. The first of them on a card is searched for: those that
/// cuBLASLt's heuristic proposes run, and the fastest is kept in a file of the cache for this and all
/// later processes.
/// requires  the product is one of the key, and its operands are where it will read them
Algorithm algorithm_of(Stream::Pool& device, const ProductKey& key, const Product& product);

}  // namespace sinter::kernel
