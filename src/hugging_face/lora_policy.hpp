// SPDX-License-Identifier: Apache-2.0
// The adapters of a recipe that is written for a folder.
#pragma once
#include <string>

#include "hugging_face/architectures.hpp"

namespace sinter::detail::hugging_face {

/// C++ of Lora with the layers that PEFT adapts by default in such a model; a head of labels is trained
/// whole.
std::string lora_policy(const FolderModel& model);

}  // namespace sinter::detail::hugging_face
