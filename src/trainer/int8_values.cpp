// SPDX-License-Identifier: Apache-2.0
#include "trainer/int8_values.hpp"

#include <algorithm>

#include "files/elements.hpp"
#include "files/scaled_tensor.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {

namespace {

template <class Byte>
kernel::Int8Matrix<Byte> matrix_of(const Parameter& p, std::type_identity_t<Byte>* data) {
  const int rows = int(p.shape[0]), columns = int(p.shape[1]);
  if (p.int8.transposes) return {data, columns, rows, p.int8.group};
  return {data, rows, columns, p.int8.group};
}

}  // namespace

Int8Packer::Int8Packer(const Parameter& p, std::byte* to)
    : to_(matrix_of<std::byte>(p, to)),
      transposes_(p.int8.transposes),
      at_once_(std::size_t(transposes_ ? to_.rows : 1) *
               std::size_t(transposes_ ? to_.group : to_.columns)) {}

void Int8Packer::add(std::span<const float> values) {
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), at_once_ - waiting_.size());
    waiting_.insert(waiting_.end(), values.begin(), values.begin() + std::ptrdiff_t(count));
    values = values.subspan(count);
    if (waiting_.size() < at_once_) return;
    if (transposes_) {
      kernel::pack_int8_columns(waiting_.data(), done_++, to_);
    } else {
      kernel::pack_int8_rows(waiting_.data(), done_++, 1, to_);
    }
    waiting_.clear();
  }
}

std::vector<float> unpacked(const Parameter& p, const std::byte* from) {
  const kernel::Int8Matrix<const std::byte> matrix = matrix_of<const std::byte>(p, from);
  std::vector<float> rows(std::size_t(p.size));
  kernel::unpack_int8_rows(matrix, 0, matrix.rows, rows.data());
  if (!p.int8.transposes) return rows;
  std::vector<float> values(rows.size());
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      values[std::size_t(c) * std::size_t(matrix.rows) + std::size_t(r)] =
          rows[std::size_t(r) * std::size_t(matrix.columns) + std::size_t(c)];
  return values;
}

Int8Tensor::Int8Tensor(const Parameter& p, const std::byte* blocks)
    : name(p.name),
      scales_name(p.name + std::string(scale_suffix)),
      shape(p.shape),
      scales_shape(p.shape),
      numbers(std::size_t(p.size)),
      scales(std::size_t(p.size / p.int8.group)) {
  const auto matrix = matrix_of<const std::byte>(p, blocks);
  const bool turned = p.int8.transposes;
  scales_shape[turned ? 0 : 1] /= matrix.group;
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      numbers[std::size_t(turned ? std::int64_t(c) * matrix.rows + r
                                 : std::int64_t(r) * matrix.columns + c)] =
          kernel::int8_number(matrix, r, c);
  for (int r = 0; r < matrix.rows; ++r)
    for (int g = 0; g < matrix.groups(); ++g)
      scales[std::size_t(turned ? std::int64_t(g) * matrix.rows + r
                                : std::int64_t(r) * matrix.groups() + g)] =
          kernel::int8_scale(matrix, r, g);
}

TensorView Int8Tensor::numbers_view() const {
  return {name, Dtype::i8, shape, numbers.data(), numbers.size()};
}
TensorView Int8Tensor::scales_view() const {
  return {scales_name, Dtype::f16, scales_shape, scales.data(), scales.size() * sizeof(Float16)};
}

Int8Tensors::Int8Tensors(std::span<const TensorView> weights,
                         const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    const auto weight = std::ranges::find(weights, p.name, &TensorView::name);
    if (!p.int8 || weight == weights.end()) continue;
    std::vector<float> values(std::size_t(p.size));
    convert_elements(weight->dtype, static_cast<const char*>(weight->data), Dtype::f32,
                     reinterpret_cast<char*>(values.data()), values.size());
    const kernel::Int8Matrix<const std::byte> shape = matrix_of<const std::byte>(p, nullptr);
    std::vector<std::byte> bytes(
        std::size_t(kernel::int8_bytes(shape.rows, shape.columns, shape.group)));
    Int8Packer(p, bytes.data()).add(values);
    tensors_.emplace_back(p, bytes.data());
  }
}

void Int8Tensors::replace(std::vector<TensorView>& weights) const {
  for (const Int8Tensor& tensor : tensors_) {
    *std::ranges::find(weights, tensor.name, &TensorView::name) = tensor.numbers_view();
    weights.push_back(tensor.scales_view());
  }
}

void require_not_int8(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters)
    if (p.int8)
      throw Error("'" + p.name +
                  "' is stored in int8, of which no file of weights is written. Export the weights "
                  "that were loaded, with a Trainer.");
}

}  // namespace sinter::detail
