// SPDX-License-Identifier: Apache-2.0
// The slot `recovery`: what a run does when a step goes wrong. Without such a policy, training
// stops.
#pragma once
#include <cstdint>

namespace sinter {

/// The reaction to a step that was not applied, as its loss or gradient is not finite or a guard
/// refused it.
enum class Reaction : std::uint8_t {
  stop,       ///< training ends
  skip,       ///< continues with the next batch; everything else is as before the step
  roll_back,  ///< returns to the newest good checkpoint, continues with the next batch
  repeat      ///< returns to the newest good checkpoint, repeats the batches since then
};

}  // namespace sinter
