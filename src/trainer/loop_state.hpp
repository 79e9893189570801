// SPDX-License-Identifier: Apache-2.0
// The loop's part of a checkpoint's manifest.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/trainer/stages.hpp"

namespace sinter::detail {

struct SavedLoop {
  LoopState state;
  SamplerState data;
};

/// Adds the entries "loop" and "sampler" to the info of a checkpoint.
void add_loop_state(nlohmann::ordered_json& info, const LoopState& state, const SamplerState& data);

/// Reads the entries "loop" and "sampler" of a checkpoint's info.
/// throws    Error or ArgumentError if they are missing or cannot be read
SavedLoop loop_state_of(const std::string& info);

}  // namespace sinter::detail
