// SPDX-License-Identifier: Apache-2.0
// The tensors of a model in checkpoints.
#pragma once
#include <string>
#include <vector>

#include "sinter/files/safetensors.hpp"
#include "sinter/model/hugging_face.hpp"
#include "sinter/run/parameter_store.hpp"

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
std::vector<SavedTensor> saved_tensors(const ParameterStore& store, Space space);

/// Returns the content of config.json; empty if Hugging Face does not have the architecture.
std::string config_text(const HuggingFace& architecture);

}  // namespace sinter::detail
