// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "files/elements.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is little-endian");

constexpr std::uint64_t alignment = 32;

/// The numbers of types in GGUF.
enum class Type : std::uint32_t { uint32 = 4, int32 = 5, float32 = 6, boolean, string, array };

std::uint32_t number_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return 0;
    case Dtype::f16:
      return 1;
    case Dtype::bf16:
      return 30;
    default:
      throw ArgumentError(
          fmt::format("GGUF: tensors are F32, F16 or BF16 here, not {}. Choose one of these.",
                      dtype_name(dtype)));
  }
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// What stands before the data of tensors.
class Head {
  std::string text;

 public:
  const std::string& bytes() const { return text; }

  template <class T>
  void number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void string(std::string_view value) {
    number(std::uint64_t(value.size()));
    text += value;
  }
  void type(Type type) { number(std::uint32_t(type)); }
  void begin_array(Type of, std::size_t count) {
    type(Type::array);
    type(of);
    number(std::uint64_t(count));
  }

  void value(std::uint32_t value) { type(Type::uint32), number(value); }
  void value(float value) { type(Type::float32), number(value); }
  void value(bool value) { type(Type::boolean), number(std::uint8_t(value)); }
  void value(const std::string& value) { type(Type::string), string(value); }
  void value(const std::vector<std::string>& values) {
    begin_array(Type::string, values.size());
    for (const std::string& each : values) string(each);
  }
  void value(const std::vector<float>& values) {
    begin_array(Type::float32, values.size());
    for (float each : values) number(each);
  }
  void value(const std::vector<std::int32_t>& values) {
    begin_array(Type::int32, values.size());
    for (std::int32_t each : values) number(each);
  }
};

std::uint64_t elements_of(const Shape& shape) {
  std::uint64_t count = 1;
  for (std::int64_t extent : shape) count *= std::uint64_t(extent);
  return count;
}

/// The bytes of a tensor in the file.
std::uint64_t bytes_of(const GgufTensor& tensor) {
  return elements_of(tensor.source.shape) * (dtype_bits(tensor.dtype) / 8);
}

Head head_of(std::span<const GgufEntry> entries, std::span<const GgufTensor> tensors) {
  constexpr std::uint32_t version = 3;
  Head head;
  for (char letter : std::string_view("GGUF")) head.number(letter);
  head.number(version);
  head.number(std::uint64_t(tensors.size()));
  head.number(std::uint64_t(entries.size()));
  for (const GgufEntry& entry : entries) {
    head.string(entry.key);
    std::visit([&](const auto& value) { head.value(value); }, entry.value);
  }
  std::uint64_t at = 0;
  for (const GgufTensor& tensor : tensors) {
    head.string(tensor.name);
    const Shape shape = tensor.shape();
    head.number(std::uint32_t(shape.size()));
    for (auto extent = shape.rbegin(); extent != shape.rend(); ++extent)
      head.number(std::uint64_t(*extent));
    head.number(number_of(tensor.dtype));
    head.number(at);
    at += aligned(bytes_of(tensor));
  }
  return head;
}

/// Writes elements of a tensor as the type that the file has.
class Elements {
  OutputFile& out;
  const GgufTensor& tensor;
  const Dtype held;
  std::vector<char> gathered, converted;

 public:
  Elements(OutputFile& to, const GgufTensor& of)
      : out(to), tensor(of), held(of.source.held.value_or(of.source.dtype)) {}

  std::size_t width() const { return dtype_bits(held) / 8; }
  const char* at(std::uint64_t element) const {
    return static_cast<const char*>(tensor.source.data) + element * width();
  }
  /// `count` elements that lie one after the other.
  void write(const char* from, std::uint64_t count) {
    constexpr std::uint64_t block = std::uint64_t(1) << 16;
    const std::size_t wide = dtype_bits(tensor.dtype) / 8;
    for (; count > 0; count -= std::min(block, count), from += block * width()) {
      const auto some = std::size_t(std::min(block, count));
      if (first_beyond(held, from, tensor.dtype, some) < some)
        throw ArgumentError(
            fmt::format("An element of the tensor '{}' is too large a number for {}. Write the "
                        "weights as another type.",
                        tensor.source.name, dtype_name(tensor.dtype)));
      converted.resize(some * wide);
      convert_elements(held, from, tensor.dtype, converted.data(), some);
      out.write(converted.data(), converted.size());
    }
  }
  /// `count` elements, each `stride` elements after the one before.
  void write_strided(std::uint64_t first, std::uint64_t count, std::uint64_t stride) {
    gathered.resize(count * width());
    for (std::uint64_t k = 0; k < count; ++k)
      std::memcpy(gathered.data() + k * width(), at(first + k * stride), width());
    write(gathered.data(), count);
  }
};

void write_tensor(OutputFile& out, const GgufTensor& tensor) {
  Elements elements(out, tensor);
  const Shape& shape = tensor.source.shape;
  const std::uint64_t count = elements_of(shape);
  if (tensor.order == GgufOrder::same || count == 0) return elements.write(elements.at(0), count);
  const auto rows = std::uint64_t(shape[0]), columns = count / rows;
  if (tensor.order == GgufOrder::transposed) {
    for (std::uint64_t c = 0; c < columns; ++c) elements.write_strided(c, rows, columns);
    return;
  }
  const std::uint64_t in_head = rows / std::uint64_t(tensor.heads), half = in_head / 2;
  assert(in_head * std::uint64_t(tensor.heads) == rows && in_head % 2 == 0);
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t place = row % in_head;
    const std::uint64_t from = row - place + place / 2 + (place % 2 == 0 ? 0 : half);
    elements.write(elements.at(from * columns), columns);
  }
}

}  // namespace

Shape GgufTensor::shape() const {
  Shape shape = source.shape;
  if (order == GgufOrder::transposed) std::ranges::reverse(shape);
  return shape;
}

void write_gguf(const std::filesystem::path& path, std::span<const GgufEntry> entries,
                std::span<const GgufTensor> tensors) {
  const Head head = head_of(entries, tensors);
  write_file_atomically(path, [&](OutputFile& out) {
    const std::string zeros(alignment, '\0');
    auto pad = [&] { out.write(zeros.data(), aligned(out.bytes()) - out.bytes()); };
    out.write(head.bytes());
    pad();
    for (const GgufTensor& tensor : tensors) {
      write_tensor(out, tensor);
      pad();
    }
  });
}

}  // namespace sinter::detail
