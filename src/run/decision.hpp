// SPDX-License-Identifier: Apache-2.0
// The decision of a step in the device's memory, as the host writes and reads it.
#pragma once
#include <array>
#include <span>

#include "sinter/comm/communicator.hpp"
#include "sinter/kernels/decision.hpp"

namespace sinter::detail {

/// Votes as the numbers that they are.
std::array<float, kernel::Votes::count> numbers_of(const kernel::Votes& votes);

/// Sets a decision to zero, and casts this rank's votes.
void begin_decision(kernel::Stream& stream, kernel::Decision* decision, const kernel::Votes& own);

/// Writes the number of predictions that this rank has evaluated.
void put_predictions(kernel::Stream& stream, kernel::Decision* decision, std::int64_t predictions);

/// Copies a decision.
void read_decision(kernel::Stream& stream, kernel::Decision* from, kernel::Decision& to);

/// Sums values over the ranks, in the memory of a decision that nobody needs any more.
void sum_over_ranks(kernel::Stream& stream, Communicator& ranks, kernel::Decision* decision,
                    std::span<double> values);

}  // namespace sinter::detail
