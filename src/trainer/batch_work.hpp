// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// Returns the work of a rank on its part of a batch, where `ranks` ranks share the batch.
Work part_of(const HostBatch& batch, std::int64_t rank, std::int64_t ranks);

}  // namespace sinter::detail
