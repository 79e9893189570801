// SPDX-License-Identifier: Apache-2.0
// Between parameters that are stored in int8 and their values in files.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sinter/base/float16.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/kernels/int8.hpp"
#include "sinter/plan/parameter.hpp"

namespace sinter::detail {

/// Rounds a parameter's values to int8, as they are read piece by piece.
class Int8Packer {
 public:
  /// to: where the parameter is stored.
  Int8Packer(const Parameter& parameter, std::byte* to);
  /// Takes the next values, in the order of files.
  void add(std::span<const float> values);

 private:
  kernel::Int8Matrix<std::byte> to_;
  bool transposes_;
  std::size_t at_once_;  // values of a row, or of a group of all rows
  int done_ = 0;
  std::vector<float> waiting_;
};

/// The values of a parameter, in the order of files.
std::vector<float> unpacked(const Parameter& parameter, const std::byte* from);

/// A weight in int8 as files have it (files/scaled_tensor.hpp).
struct Int8Tensor {
  std::string name, scales_name;
  Shape shape, scales_shape;
  std::vector<std::int8_t> numbers;
  std::vector<Float16> scales;

  /// blocks: where the parameter is stored.
  Int8Tensor(const Parameter& parameter, const std::byte* blocks);
  /// Views the numbers and the scales, for as long as this lives.
  TensorView numbers_view() const;
  TensorView scales_view() const;
};

/// Weights in int8 as files have them.
class Int8Tensors {
  std::vector<Int8Tensor> tensors_;

 public:
  /// Rounds those weights that parameters of these names store in int8. weights: in floating point.
  Int8Tensors(std::span<const TensorView> weights, const std::vector<Parameter>& parameters);
  /// Replaces these weights in a list by their numbers and scales, which live as long as this.
  void replace(std::vector<TensorView>& weights) const;
};

/// throws    Error if a parameter is stored in int8, so that its file would not have its values
void require_not_int8(const std::vector<Parameter>& parameters);

}  // namespace sinter::detail
