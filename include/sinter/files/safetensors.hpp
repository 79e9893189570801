// SPDX-License-Identifier: Apache-2.0
// Writing, and checked reading, of safetensors, the only format of weights.
// Layout (github.com/huggingface/safetensors): a u64 length N, N bytes of JSON, the data.
// Everything is little-endian and in C order; offsets are relative to the data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sinter/files/dtype.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

/// The sizes of a tensor's dimensions, the slowest first. A scalar has none.
using Shape = std::vector<std::int64_t>;
/// The texts that a file carries under "__metadata__".
using Metadata = std::map<std::string, std::string>;

/// A shape as text, such as "[64, 192]".
std::string to_string(const Shape& shape);

/// A tensor to be written, in C order.
struct TensorView {
  std::string name;   ///< name in the file
  Dtype dtype;        ///< type of its elements in the file
  Shape shape;        ///< dimensions, the outermost first
  const void* data;   ///< the elements, in row-major order
  std::size_t bytes;  ///< the product of the shape × the width of dtype
  /// The type of the elements at `data`, if the file is to have them rounded to another.
  std::optional<Dtype> held{};
};

/// Gives a tensor another type in the file, if both types are real numbers.
void write_as(TensorView& tensor, Dtype dtype);

/// Writes the tensors, the largest element type first, then by name. The header is padded to a
/// multiple of 8 bytes, so that every tensor is aligned to its element type. The file appears under
/// its name only when it is complete and synced.
/// throws    FileError (disk full, not writable); ArgumentError (a name that is there twice or not
///           UTF-8, bytes that do not fit the shape, a number too large for the file's type)
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata = {{"format", "pt"}});
/// Writes the tensors to a file that the caller finishes, such as one of a checkpoint.
void write_safetensors(OutputFile& out, std::span<const TensorView> tensors,
                       const Metadata& metadata = {{"format", "pt"}});

/// A tensor in a file.
struct TensorInfo {
  std::string name;          ///< name in the file
  Dtype dtype;               ///< type of its elements
  Shape shape;               ///< dimensions, the outermost first
  std::uint64_t begin, end;  ///< its bytes are [begin, end) of the file's data

  /// The product of the shape.
  std::uint64_t elements() const;
};

/// The content of a file's header.
struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  ///< in the order of their bytes
  Metadata metadata;                ///< texts under "__metadata__"
};

/// Reads the JSON of a header whose file has `data_bytes` bytes of data. Errors name it `file`.
/// throws    FileError unless the text is UTF-8 and JSON with no key twice, the element types are
///           known, and the tensors cover the data without gap or overlap, each exactly as large
///           as its shape says
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

/// Receives elements of a tensor: the index of the first, their address, and their number.
using TakeElements =
    std::function<void(std::uint64_t first, const void* values, std::uint64_t count)>;

/// An open file whose header has been checked.
class SafetensorsFile {
  InputFile file;
  std::uint64_t data_start = 0;
  SafetensorsHeader header;
  std::unordered_map<std::string_view, std::size_t> index;

 public:
  /// throws    FileError that names the file, the tensor and the fault
  explicit SafetensorsFile(std::filesystem::path path);
  SafetensorsFile(SafetensorsFile&&) = default;

  const std::filesystem::path& path() const { return file.path(); }  ///< the path that was given
  /// SafetensorsHeader::tensors.
  const std::vector<TensorInfo>& tensors() const { return header.tensors; }
  const Metadata& metadata() const { return header.metadata; }  ///< SafetensorsHeader::metadata
  /// The tensor of this name, or nullptr if there is none.
  const TensorInfo* find(std::string_view name) const;

  /// Copies a tensor's elements to `into`, which has room for all of them as type `as`, at any
  /// alignment. f32, f64, f16 and bf16 are converted to each other, rounded to nearest; any other
  /// type is read only as itself.
  /// throws    FileError: no such tensor, no such conversion, a file that has been cut short
  void read(std::string_view name, void* into, Dtype as) const;
  /// read() of an entry of tensors().
  void read(const TensorInfo& tensor, void* into, Dtype as) const;
  /// Passes a tensor's elements to `take` as the type `as`, block after block.
  void read(const TensorInfo& tensor, Dtype as, const TakeElements& take) const;
  /// Copies bytes [from, from + bytes) of a tensor, as they lie in the file.
  /// throws    FileError
  void read_bytes(const TensorInfo& tensor, std::uint64_t from, void* into,
                  std::size_t bytes) const;
};

/// True if SafetensorsFile::read can convert a tensor to elements of the type `to`: real numbers to
/// real numbers, and a single I64, as torch's modules count batches, to one.
[[nodiscard]] bool convertible(const TensorInfo& tensor, Dtype to);

}  // namespace sinter::detail
