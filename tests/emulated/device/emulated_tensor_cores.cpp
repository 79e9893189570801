// SPDX-License-Identifier: Apache-2.0
#include "emulated/device/emulated_tensor_cores.hpp"

#include <bit>
#include <cstring>

#include "emulated/device/emulation.hpp"

namespace sinter::kernel::emulated {
namespace {

/// Calls all(parts) once, when each lane of the warp has given its part: parts[k] is that of lane k.
template <class P, class F>
void together(P mine, const F& all) {
  if (lanes_of_warp() != lanes) refuse("tensor cores of a part of a warp");
  std::uint64_t* places = exchange();
  places[current->lane()] = std::bit_cast<std::uint64_t>(&mine);
  if (last_of_warp()) {
    const P* parts[lanes];
    for (int lane = 0; lane < lanes; ++lane) parts[lane] = std::bit_cast<P*>(places[lane]);
    all(parts);
  }
  wait_for_warp();
}

/// The lower number of a pair, or the upper one.
float number(std::uint32_t pair, int half) {
  return std::bit_cast<float>(half ? pair & 0xffff0000u : pair << 16);
}

void make(const LateCopy& copy) {
  if (copy.from)
    std::memcpy(copy.to, copy.from, std::size_t(copy.bytes));
  else
    std::memset(copy.to, 0, std::size_t(copy.bytes));
}

}  // namespace

void multiply_add(const std::uint32_t* left, const std::uint32_t* right, float* sums) {
  struct Part {
    const std::uint32_t *left, *right;
    float* sums;
  };
  together(Part{left, right, sums}, [](const Part* const* parts) {
    float a[16][16], b[16][8];
    for (int lane = 0; lane < lanes; ++lane)
      for (int k = 0; k < 4; ++k)
        for (int half : {0, 1}) {
          const int row = lane / 4, pair = lane % 4 * 2 + half;
          a[row + k % 2 * 8][pair + k / 2 * 8] = number(parts[lane]->left[k], half);
          if (k < 2) b[pair + k * 8][row] = number(parts[lane]->right[k], half);
        }
    for (int lane = 0; lane < lanes; ++lane)
      for (int k = 0; k < 4; ++k) {
        const int row = lane / 4 + k / 2 * 8, column = lane % 4 * 2 + k % 2;
        float sum = 0;
        for (int i = 0; i < 16; ++i) sum += a[row][i] * b[i][column];
        parts[lane]->sums[k] += sum;
      }
  });
}

void load_matrices(const std::uint16_t* row, bool transposed, std::uint32_t* to) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) refuse("a row at no multiple of 16 bytes");
  struct Part {
    const std::uint16_t* row;
    std::uint32_t* to;
  };
  together(Part{row, to}, [=](const Part* const* parts) {
    const auto at = [&](int matrix, int r, int c) -> std::uint32_t {
      return transposed ? parts[matrix * 8 + c]->row[r] : parts[matrix * 8 + r]->row[c];
    };
    for (int lane = 0; lane < lanes; ++lane)
      for (int k = 0; k < 4; ++k)
        parts[lane]->to[k] = at(k, lane / 4, lane % 4 * 2) | at(k, lane / 4, lane % 4 * 2 + 1)
                                                                 << 16;
  });
}

void begin_copy(void* to, const void* from, int bytes, bool there) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (address % unsigned(bytes) != 0) refuse("a copy between places that are not aligned for it");
  const LateCopy copy{to, there ? from : nullptr, bytes, current->groups};
  runs_ahead() ? make(copy) : current->late.push_back(copy);
}

void end_group() { ++current->groups; }

void wait_for_groups_but(int last) {
  std::erase_if(current->late, [last](const LateCopy& copy) {
    if (copy.group >= current->groups - last) return false;
    make(copy);
    return true;
  });
}

}  // namespace sinter::kernel::emulated
