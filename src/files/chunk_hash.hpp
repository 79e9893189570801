// SPDX-License-Identifier: Apache-2.0
// The hash of a file of tensors that several ranks write.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sinter/files/dtype.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

/// The sum of hashes of chunks. Tensors are cut from their beginning into chunks of `elements`
/// elements, the last of which may be shorter; the bytes before them are one chunk. Each is hashed
/// (XXH3-128) with its place in the file as the seed. So processes that each have some of the
/// chunks add up their sums, in any order.
struct ChunkSum {
  /// No shard begins or ends within as many elements of a parameter.
  static constexpr int elements = 16;

  std::uint64_t low = 0, high = 0;

  /// Adds the chunk that begins at this place in the file.
  void add_chunk(std::uint64_t at, const void* data, std::size_t bytes);
  /// Adds the chunks of a part of a tensor, which begins with a chunk, and ends with one or with the
  /// tensor.
  void add_elements(std::uint64_t at, const void* data, std::size_t bytes, Dtype type);
  ChunkSum& operator+=(const ChunkSum& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  /// 32 hexadecimal digits.
  std::string text() const;
};

/// The bytes of a chunk.
inline std::uint64_t chunk_bytes(Dtype type) {
  return dtype_bits(type) * std::uint64_t(ChunkSum::elements) / 8;
}

/// Takes the sum over a safetensors file; none if it is not one.
/// throws    FileError if it cannot be read
std::optional<ChunkSum> sum_of_file(const InputFile& file);

}  // namespace sinter::detail
