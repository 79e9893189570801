// SPDX-License-Identifier: Apache-2.0
// The reply of an example in a batch, and what stands before it.
#pragma once
#include <cstdint>
#include <span>

#include "sinter/data/host_batch.hpp"

namespace sinter::detail {

/// Parts of a sequence, as ReplyForm says; they lie in the batch.
struct ReplyParts {
  std::span<const std::int32_t> source{};  ///< what an encoder reads; else empty
  std::span<const std::int32_t> before{};  ///< tokens up to the one that predicts the reply's first
  std::span<const std::int32_t> reply{};   ///< its tokens; empty if the sequence predicts nothing
};

/// Returns the parts of a sequence that the batch holds, of a model that `decodes` beside an encoder or not.
ReplyParts reply_parts(const HostBatch& batch, bool decodes, int sequence);

}  // namespace sinter::detail
