// The loop's part of a checkpoint's manifest.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/trainer/stages.hpp"

namespace sinter {

struct SavedLoop {
  LoopState state;
  SamplerState data;
};

/// Adds the entries "loop" and "sampler" to a checkpoint's info.
void add_loop_state(nlohmann::ordered_json& info, const LoopState& state, const SamplerState& data);

/// The reverse. throws  Error, ArgumentError where they are missing or not readable
SavedLoop loop_state_of(const std::string& info);

}  // namespace sinter
