// SPDX-License-Identifier: Apache-2.0
// Uses index_select and index_copy, not x[index], whose gradient is summed one by one. Uses
// data_ptr, not const_data_ptr, whose name clang and g++ mangle differently.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "sinter/autograd/torch.hpp"

namespace sinter::autograd {
namespace {

/// The places of sequences' rows in a tensor in which all sequences are as long as the longest.
struct Places {
  at::Tensor index;  // of each row, in sequences · longest
  std::int64_t sequences = 0, longest = 0;

  explicit Places(const at::Tensor& starts) : sequences(starts.numel() - 1) {
    const at::Tensor in_a_row = starts.contiguous();
    const auto* start = in_a_row.data_ptr<std::int64_t>();
    for (std::int64_t s = 0; s < sequences; ++s)
      longest = std::max(longest, start[s + 1] - start[s]);
    index = at::empty({start[sequences]}, at::kLong);
    auto* to = index.data_ptr<std::int64_t>();
    for (std::int64_t s = 0; s < sequences; ++s)
      for (std::int64_t r = start[s]; r < start[s + 1]; ++r) *to++ = s * longest + r - start[s];
  }
};

}  // namespace

at::Tensor padded(const at::Tensor& rows, const at::Tensor& starts) {
  const Places places(starts);
  const at::Tensor empty =
      at::zeros({places.sequences * places.longest, rows.size(1)}, rows.options());
  return empty.index_copy(0, places.index, rows)
      .reshape({places.sequences, places.longest, rows.size(1)});
}

at::Tensor packed(const at::Tensor& sequences, const at::Tensor& starts) {
  return sequences.reshape({-1, sequences.size(2)}).index_select(0, Places(starts).index);
}

}  // namespace sinter::autograd
