// SPDX-License-Identifier: Apache-2.0
#include "files/chunk_hash.hpp"

#include <algorithm>
#include <vector>

#include "files/hexadecimal.hpp"
#include "sinter/files/safetensors.hpp"

namespace sinter::detail {

void ChunkSum::add_chunk(std::uint64_t at, const void* data, std::size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(data, bytes, at);
  *this += {hash.low64, hash.high64};
}

void ChunkSum::add_elements(std::uint64_t at, const void* data, std::size_t bytes, Dtype type) {
  const std::size_t each = chunk_bytes(type);
  const auto* next = static_cast<const char*>(data);
  for (std::size_t done = 0; done < bytes; done += each)
    add_chunk(at + done, next + done, std::min(each, bytes - done));
}

std::string ChunkSum::text() const { return hexadecimal({low, high}); }

namespace {

/// The bytes before the tensors of a file; none if the file is too short for it.
std::optional<std::string> head_of(const InputFile& file) {
  std::uint64_t length;
  if (file.size() < sizeof length) return std::nullopt;
  file.read_at(0, &length, sizeof length);
  if (length > file.size() - sizeof length) return std::nullopt;
  std::string head(sizeof length + length, '\0');
  file.read_at(0, head.data(), head.size());
  return head;
}

std::optional<SafetensorsHeader> header_of(const InputFile& file, std::string_view head) try {
  return parse_safetensors_header(head.substr(sizeof(std::uint64_t)), file.size() - head.size(),
                                  file.path().string());
} catch (const FileError&) {
  return std::nullopt;
}

}  // namespace

std::optional<ChunkSum> sum_of_file(const InputFile& file) {
  const std::optional<std::string> head = head_of(file);
  const std::optional<SafetensorsHeader> header = head ? header_of(file, *head) : std::nullopt;
  if (!header) return std::nullopt;
  ChunkSum sum;
  sum.add_chunk(0, head->data(), head->size());
  std::vector<char> buffer(std::size_t(1) << 20);
  for (const TensorInfo& tensor : header->tensors) {
    const std::size_t taken = buffer.size() / chunk_bytes(tensor.dtype) * chunk_bytes(tensor.dtype);
    for (std::uint64_t at = tensor.begin; at < tensor.end; at += taken) {
      const auto bytes = std::size_t(std::min<std::uint64_t>(taken, tensor.end - at));
      file.read_at(head->size() + at, buffer.data(), bytes);
      sum.add_elements(head->size() + at, buffer.data(), bytes, tensor.dtype);
    }
  }
  return sum;
}

}  // namespace sinter::detail
