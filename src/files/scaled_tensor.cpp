// SPDX-License-Identifier: Apache-2.0
#include "files/scaled_tensor.hpp"

#include <vector>

#include "files/elements.hpp"

namespace sinter::detail {

bool is_scaled(const TensorInfo& numbers, const TensorInfo& scales) {
  const Shape &all = numbers.shape, &groups = scales.shape;
  if (numbers.dtype != Dtype::i8 || scales.dtype != Dtype::f16) return false;
  if (all.size() != 2 || groups.size() != 2 || groups[0] == 0 || groups[1] == 0) return false;
  return (groups[0] == all[0] && all[1] % groups[1] == 0) ||
         (groups[1] == all[1] && all[0] % groups[0] == 0);
}

void read_scaled(const ScaledTensor& tensor, Dtype as, const TakeElements& take) {
  const auto columns = std::uint64_t(tensor.numbers->shape[1]);
  const auto groups = std::uint64_t(tensor.scales->shape[1]);
  const std::uint64_t rows_of_group =
      std::uint64_t(tensor.numbers->shape[0]) / std::uint64_t(tensor.scales->shape[0]);
  std::vector<float> scales(std::size_t(tensor.scales->shape[0]) * groups);
  tensor.scales_file->read(*tensor.scales, scales.data(), Dtype::f32);
  std::vector<float> values;
  std::vector<char> converted;
  tensor.file->read(
      *tensor.numbers, Dtype::i8,
      [&](std::uint64_t first, const void* numbers, std::uint64_t count) {
        const auto* const from = static_cast<const std::int8_t*>(numbers);
        values.resize(count);
        converted.resize(count * dtype_bits(as) / 8);
        for (std::uint64_t k = 0; k < count; ++k) {
          const std::uint64_t row = (first + k) / columns, column = (first + k) % columns;
          values[k] =
              float(from[k]) * scales[row / rows_of_group * groups + column / (columns / groups)];
        }
        convert_elements(Dtype::f32, reinterpret_cast<const char*>(values.data()), as,
                         converted.data(), count);
        take(first, converted.data(), count);
      });
}

}  // namespace sinter::detail
