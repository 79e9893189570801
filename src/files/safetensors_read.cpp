// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "files/elements.hpp"
#include "files/safetensors_layout.hpp"
#include "sinter/files/safetensors.hpp"

namespace sinter::detail {
namespace {

constexpr std::size_t chunk = std::size_t(1) << 20;

/// The length N in the file's first 8 bytes, checked against the file's size.
std::uint64_t header_length(const InputFile& file) {
  std::string name = file.path().string();
  if (file.size() < 8)
    throw FileError(
        fmt::format("{} is not a safetensors file: it has {} bytes, a header alone "
                    "takes 8. Write or fetch it again.",
                    name, file.size()));
  unsigned char begin[8];
  file.read_at(0, begin, sizeof begin);
  std::uint64_t length;
  std::memcpy(&length, begin, sizeof length);
  if (length > largest_header) {
    bool pickle = std::memcmp(begin, "PK\3\4", 4) == 0 || (begin[0] == 0x80 && begin[1] <= 5);
    throw FileError(fmt::format(
        "{} is not a safetensors file: its header would have {} bytes, the limit is {}.{}", name,
        length, largest_header,
        pickle ? " It looks like a file of torch.save, which is not read, because unpickling runs "
                 "code; save it with safetensors."
               : " Write or fetch it again."));
  }
  if (8 + length > file.size())
    throw FileError(
        fmt::format("{} is cut short: its header has {} bytes, but the file only {}. "
                    "Write or fetch it again.",
                    name, length, file.size()));
  return length;
}

}  // namespace

bool convertible(const TensorInfo& tensor, Dtype to) {
  const Dtype from = tensor.dtype;
  const bool counts = from == Dtype::i64 && tensor.shape.empty();
  return from == to || ((is_real(from) || counts) && is_real(to));
}

SafetensorsFile::SafetensorsFile(std::filesystem::path path) : file(std::move(path)) {
  std::uint64_t length = header_length(file);
  std::string json(length, '\0');
  file.read_at(8, json.data(), json.size());
  data_start = 8 + length;
  header = parse_safetensors_header(json, file.size() - data_start, file.path().string());
  for (std::size_t k = 0; k < header.tensors.size(); ++k) index[header.tensors[k].name] = k;
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &header.tensors[found->second];
}

void SafetensorsFile::read_bytes(const TensorInfo& tensor, std::uint64_t from, void* into,
                                 std::size_t bytes) const {
  std::uint64_t size = tensor.end - tensor.begin;
  if (from > size || bytes > size - from)
    throw ArgumentError(
        fmt::format("{}: bytes {} to {} of tensor '{}' were asked for, which has "
                    "only {}.",
                    path().string(), from, from + bytes, tensor.name, size));
  file.read_at(data_start + tensor.begin + from, into, bytes);
}

void SafetensorsFile::read(std::string_view name, void* into, Dtype as) const {
  const TensorInfo* tensor = find(name);
  if (!tensor)
    throw FileError(
        fmt::format("{} holds no tensor '{}'. Is it the right file?", path().string(), name));
  read(*tensor, into, as);
}

namespace {

void require_convertible(const SafetensorsFile& file, const TensorInfo& tensor, Dtype as) {
  if (convertible(tensor, as)) return;
  throw FileError(fmt::format(
      "{}: tensor '{}' holds {}, which cannot be read as {}. Convert the "
      "file, or use one of another precision.",
      file.path().string(), printable(tensor.name), dtype_name(tensor.dtype), dtype_name(as)));
}

}  // namespace

void SafetensorsFile::read(const TensorInfo& tensor, void* into, Dtype as) const {
  require_convertible(*this, tensor, as);
  if (tensor.dtype == as) {
    read_bytes(tensor, 0, into, tensor.end - tensor.begin);
    return;
  }
  const std::size_t wide = dtype_bits(as) / 8;
  read(tensor, as, [&](std::uint64_t first, const void* values, std::uint64_t count) {
    std::memcpy(static_cast<char*>(into) + first * wide, values, count * wide);
  });
}

void SafetensorsFile::read(const TensorInfo& tensor, Dtype as, const TakeElements& take) const {
  require_convertible(*this, tensor, as);
  const std::uint64_t size = tensor.end - tensor.begin;
  const std::size_t width = dtype_bits(tensor.dtype) / 8, wide = dtype_bits(as) / 8;
  std::vector<char> buffer(std::min<std::uint64_t>(chunk, size)), other;
  for (std::uint64_t at = 0; at < size; at += buffer.size()) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at));
    read_bytes(tensor, at, buffer.data(), bytes);
    const std::size_t count = bytes / width;
    const char* values = buffer.data();
    if (tensor.dtype != as) {
      other.resize(count * wide);
      convert_elements(tensor.dtype, values, as, other.data(), count);
      values = other.data();
    }
    take(at / width, values, count);
  }
}

}  // namespace sinter::detail
