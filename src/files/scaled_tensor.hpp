// SPDX-License-Identifier: Apache-2.0
// Matrices in int8, as a file has them: I8 numbers, and F16 scales for groups of them, in a tensor of
// the same name with ".scale" behind it. A number's value is its product with the scale of its group.
#pragma once
#include <string_view>

#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

inline constexpr std::string_view scale_suffix = ".scale";

/// A matrix and its scales, each in a file.
struct ScaledTensor {
  const SafetensorsFile* file = nullptr;
  const TensorInfo* numbers = nullptr;
  const SafetensorsFile* scales_file = nullptr;
  const TensorInfo* scales = nullptr;
};

/// True if tensors are such a matrix and its scales, whose groups lie along one of both dimensions.
bool is_scaled(const TensorInfo& numbers, const TensorInfo& scales);

/// Passes the values of a matrix to `take` as the type `as`, block after block.
/// requires  is_scaled(), and `as` is a real type
void read_scaled(const ScaledTensor& tensor, Dtype as, const TakeElements& take);

}  // namespace sinter::detail
