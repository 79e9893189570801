// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "sinter/files/safetensors.hpp"

namespace sinter {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

constexpr std::size_t largest_header = 100'000'000;

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

std::vector<const TensorView*> in_file_order(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  for (const TensorView& tensor : tensors) {
    check(tensor);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) {
    std::uint64_t wide = dtype_bits(a->dtype), other = dtype_bits(b->dtype);
    return wide != other ? wide > other : a->name < b->name;
  });
  return order;
}

std::string header_of(const std::vector<const TensorView*>& order, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  std::set<std::string_view> names{"__metadata__"};
  for (const TensorView* tensor : order) {
    if (!names.insert(tensor->name).second)
      throw ArgumentError(fmt::format(
          "safetensors: the tensor name '{}' is reserved or given twice.", tensor->name));
    header.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(
        tensor->name, nlohmann::ordered_json{{"dtype", dtype_name(tensor->dtype)},
                                             {"shape", tensor->shape},
                                             {"data_offsets", {at, at + tensor->bytes}}});
    at += tensor->bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void write_safetensors(OutputFile& out, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  std::vector<const TensorView*> order = in_file_order(tensors);
  std::string header;
  try {
    header = header_of(order, metadata);
  } catch (const nlohmann::json::exception& error) {
    throw ArgumentError(
        fmt::format("safetensors: a tensor's name or the metadata of {} is not "
                    "valid UTF-8: {}",
                    out.path().string(), error.what()));
  }
  if (header.size() > largest_header)
    throw ArgumentError(
        fmt::format("safetensors: the header of {} would have {} bytes; readers "
                    "accept 100,000,000. Write fewer tensors a file.",
                    out.path().string(), header.size()));
  std::uint64_t length = header.size();
  out.write(&length, sizeof length);
  out.write(header);
  for (const TensorView* tensor : order) out.write(tensor->data, tensor->bytes);
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  write_file_atomically(path, [&](OutputFile& out) { write_safetensors(out, tensors, metadata); });
}

}  // namespace sinter
