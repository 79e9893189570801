// SPDX-License-Identifier: Apache-2.0
// The parameters and running values of a layer as LibTorch's tensors, in the order of the layer.
#pragma once
#include "sinter/autograd/torch.hpp"

namespace sinter::autograd {

/// Returns LibTorch's name of an element type.
at::ScalarType scalar_type(Element element);

/// Returns the type in which LibTorch computes with such elements: fp32 or double precision.
at::ScalarType computed_as(Element element);

/// A parameter, or a running value.
struct LayerTensor {
  int number = 0;                   ///< in the order of the layer
  std::vector<std::int64_t> shape;  ///< as in files
  at::Tensor tensor;                ///< a leaf of the graph, or a buffer
  const void* viewed = nullptr;     ///< the weight that the tensor is a view or a copy of
};

/// The tensors of a layer.
struct LayerTensors {
  std::vector<LayerTensor> parameters, buffers;
};

/// Returns the tensors of a layer's code in the order of the layer.
/// throws    ArgumentError that lists all differences in names and shapes
LayerTensors match_tensors(const AutogradSpec& spec, const Code& code);

/// Returns the name of the layer's type, for messages.
std::string name_of(const AutogradSpec& spec);

}  // namespace sinter::autograd
