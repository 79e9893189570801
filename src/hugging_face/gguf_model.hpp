// SPDX-License-Identifier: Apache-2.0
// A model of transformers as llama.cpp names it in GGUF.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "files/gguf.hpp"

namespace sinter::detail::hugging_face {

/// The entries of a model and its tensors. `config` is the config.json of an export, and an object
/// without entries if transformers does not have the model. Tensors of one dimension are F32, as
/// llama.cpp needs them; all others have the type `dtype`.
struct GgufModel {
  std::vector<GgufEntry> entries;
  std::vector<GgufTensor> tensors;
  std::vector<std::vector<float>> made;  // elements of tensors that the weights do not have
  std::string notes = {};                // lines on what the file says otherwise
};

/// throws    ArgumentError that names what llama.cpp does not do of this model
GgufModel gguf_model(const nlohmann::ordered_json& config, std::span<const TensorView> weights,
                     Dtype dtype);

}  // namespace sinter::detail::hugging_face
