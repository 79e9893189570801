// SPDX-License-Identifier: Apache-2.0
// Tensor cores on the emulated device, and what brings operands to them. Copies are done as late as
// they may be, when their thread waits for them; in orders in which warps run ahead, as early.
#pragma once
#include <cstdint>

namespace sinter::kernel::emulated {

/// sums += left · right of a warp; each lane has its part of each (hardware/cuda/tensor_cores.hpp).
void multiply_add(const std::uint32_t* left, const std::uint32_t* right, float* sums);
/// Loads four matrices of 8 × 8 numbers of 16 bits, of which the lane names a row.
void load_matrices(const std::uint16_t* row, bool transposed, std::uint32_t* to);
/// Begins to copy `bytes` bytes, or zeros if they are not `there`.
void begin_copy(void* to, const void* from, int bytes, bool there);
/// Ends a group of copies of the thread.
void end_group();
/// Does the copies of all groups of the thread but the last few.
void wait_for_groups_but(int last);

}  // namespace sinter::kernel::emulated
