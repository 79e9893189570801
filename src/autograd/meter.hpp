// SPDX-License-Identifier: Apache-2.0
// How much memory LibTorch takes beside the arena.
#pragma once
#include <c10/util/ThreadLocalDebugInfo.h>

#include <optional>

#include "sinter/layer/context.hpp"

namespace sinter::autograd {

/// Counts what LibTorch's allocator gives to this thread and takes back from it while it lives, in
/// the first step of training that a trainer of this process takes (hardware/unplanned.hpp). In other
/// calls it does nothing, as counting takes a lock.
class Meter {
 public:
  explicit Meter(const Call& call);

 private:
  std::optional<c10::DebugInfoGuard> counts;
};

}  // namespace sinter::autograd
