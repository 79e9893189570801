// SPDX-License-Identifier: Apache-2.0
// This folder holds the slot `recovery`: what a run does when a step goes wrong. Without a policy in
// it, training stops.
#pragma once
#include <cstdint>

namespace sinter {

/// What to do with a step that was not applied, as its loss or gradient is not finite or a guard
/// refused it.
enum class Reaction : std::uint8_t {
  stop,       ///< training ends
  skip,       ///< it goes on with the next batch; all else is as before the step
  roll_back,  ///< it goes back to the newest good checkpoint, and on with the next batch
  repeat      ///< it goes back there, and takes the batches since then again
};

}  // namespace sinter
