// SPDX-License-Identifier: Apache-2.0
// The tensors of a model in checkpoints.
#pragma once
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// A tensor of a checkpoint: a parameter's part of a space.
struct SavedTensor {
  Space space;
  const Parameter* parameter;
  StateShape stored;
  TensorView view;  ///< without data
};

/// Returns the tensors of a persistent space, in the order of the parameters, without empty ones.
/// requires  the parameters outlive them
std::vector<SavedTensor> saved_tensors(const Machine& machine,
                                       const std::vector<Parameter>& parameters, Space space);

/// Returns the content of config.json; empty if Hugging Face does not have the architecture.
std::string config_text(const HuggingFace& architecture);

/// Writes elements of a parameter, from number `first` on, into a rank's part of a space. Master
/// weights are also written to the copy. Does for each rank what the machine does with a whole
/// parameter.
void put_elements(Machine& machine, const SavedTensor& tensor, std::int64_t first,
                  const std::byte* values, std::int64_t count);

}  // namespace sinter::detail
