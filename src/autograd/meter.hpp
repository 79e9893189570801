// SPDX-License-Identifier: Apache-2.0
// The memory that LibTorch takes outside the arena.
#pragma once
#include <c10/util/ThreadLocalDebugInfo.h>

#include <optional>

#include "sinter/layer/context.hpp"

namespace sinter::autograd {

/// Counts, while it lives, the bytes that LibTorch allocates and frees on this thread
/// (hardware/unplanned.hpp). It counts only in the first training step of this process, as counting
/// takes a lock.
class Meter {
 public:
  explicit Meter(const Call& call);

 private:
  std::optional<c10::DebugInfoGuard> counts;
};

}  // namespace sinter::autograd
