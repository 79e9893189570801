// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "files/elements.hpp"
#include "files/safetensors_layout.hpp"

namespace sinter::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

void check(const TensorView& tensor) {
  std::uint64_t bits = dtype_bits(tensor.dtype);
  bool fits = true;
  for (std::int64_t extent : tensor.shape)
    fits = fits && extent >= 0 &&
           !__builtin_mul_overflow(bits, static_cast<std::uint64_t>(extent), &bits);
  if (!fits || bits % 8 != 0 || bits / 8 != tensor.bytes)
    throw ArgumentError(
        fmt::format("safetensors: tensor '{}' has {} bytes, which is not what {} "
                    "of shape {} takes.",
                    tensor.name, tensor.bytes, dtype_name(tensor.dtype), to_string(tensor.shape)));
}

std::vector<std::size_t> in_file_order(std::span<const TensorView> tensors) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    check(tensors[k]);
    order.push_back(k);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const TensorView &one = tensors[a], &two = tensors[b];
    const std::uint64_t wide = dtype_bits(one.dtype), other = dtype_bits(two.dtype);
    return wide != other ? wide > other : one.name < two.name;
  });
  return order;
}

std::string header_of(std::span<const TensorView> tensors, const std::vector<std::size_t>& order,
                      const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  std::set<std::string_view> names{"__metadata__"};
  for (const std::size_t k : order) {
    const TensorView& tensor = tensors[k];
    if (!names.insert(tensor.name).second)
      throw ArgumentError(fmt::format(
          "safetensors: the tensor name '{}' is reserved or given twice.", tensor.name));
    header.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(
        tensor.name, nlohmann::ordered_json{{"dtype", dtype_name(tensor.dtype)},
                                            {"shape", tensor.shape},
                                            {"data_offsets", {at, at + tensor.bytes}}});
    at += tensor.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

/// Writes elements that are held as another type than the file's.
void write_converted(OutputFile& out, const TensorView& tensor) {
  constexpr std::size_t block = std::size_t(1) << 16;
  const std::size_t width = dtype_bits(*tensor.held) / 8, wide = dtype_bits(tensor.dtype) / 8;
  const std::size_t count = tensor.bytes / wide;
  std::vector<char> converted(std::min(block, count) * wide);
  const char* from = static_cast<const char*>(tensor.data);
  for (std::size_t at = 0; at < count; at += block, from += block * width) {
    const std::size_t some = std::min(block, count - at);
    if (const std::size_t beyond = first_beyond(*tensor.held, from, tensor.dtype, some);
        beyond < some)
      throw ArgumentError(
          fmt::format("Element {} of the tensor '{}' is too large a number for {}. Write the "
                      "weights as another type.",
                      at + beyond, tensor.name, dtype_name(tensor.dtype)));
    convert_elements(*tensor.held, from, tensor.dtype, converted.data(), some);
    out.write(converted.data(), some * wide);
  }
}

}  // namespace

void write_as(TensorView& tensor, Dtype dtype) {
  const Dtype held = tensor.held.value_or(tensor.dtype);
  if (!is_real(held) || !is_real(dtype)) return;
  tensor.bytes = tensor.bytes / dtype_bits(tensor.dtype) * dtype_bits(dtype);
  tensor.dtype = dtype;
  tensor.held = held;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

SafetensorsLayout safetensors_layout(std::span<const TensorView> tensors, const Metadata& metadata,
                                     const std::string& file) {
  SafetensorsLayout layout{.head = {}, .order = in_file_order(tensors), .places = {}};
  std::string header;
  try {
    header = header_of(tensors, layout.order, metadata);
  } catch (const nlohmann::json::exception& error) {
    throw ArgumentError(
        fmt::format("safetensors: a tensor's name or the metadata of {} is not "
                    "valid UTF-8: {}",
                    file, error.what()));
  }
  if (header.size() > largest_header)
    throw ArgumentError(
        fmt::format("safetensors: the header of {} would have {} bytes; readers "
                    "accept 100,000,000. Write fewer tensors a file.",
                    file, header.size()));
  const std::uint64_t length = header.size();
  layout.head.assign(reinterpret_cast<const char*>(&length), sizeof length);
  layout.head += header;
  layout.bytes = layout.head.size();
  layout.places.resize(tensors.size());
  for (const std::size_t k : layout.order) {
    layout.places[k] = layout.bytes;
    layout.bytes += tensors[k].bytes;
  }
  return layout;
}

void write_safetensors(OutputFile& out, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  const SafetensorsLayout layout = safetensors_layout(tensors, metadata, out.path().string());
  out.write(layout.head);
  for (const std::size_t k : layout.order) {
    const TensorView& tensor = tensors[k];
    if (tensor.held.value_or(tensor.dtype) == tensor.dtype) {
      out.write(tensor.data, tensor.bytes);
    } else {
      write_converted(out, tensor);
    }
  }
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  write_file_atomically(path, [&](OutputFile& out) { write_safetensors(out, tensors, metadata); });
}

}  // namespace sinter::detail
