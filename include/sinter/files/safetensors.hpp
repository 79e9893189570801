// safetensors, the only weight format: writing, checked reading.
// Layout (github.com/huggingface/safetensors): u64 length N, N bytes of JSON, data; little-endian,
// C order; offsets relative to the data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sinter/files/dtype.hpp"
#include "sinter/files/io.hpp"

namespace sinter {

using Shape = std::vector<std::int64_t>;
using Metadata = std::map<std::string, std::string>;

/// "[64, 192]".
std::string to_string(const Shape& shape);

/// A tensor to be written: C order, `bytes` = product of shape × width of dtype.
struct TensorView {
  std::string name;
  Dtype dtype;
  Shape shape;
  const void* data;
  std::size_t bytes;
};

/// Writes the tensors, largest element type first, then by name, with the header padded to 8 bytes:
/// so every tensor lies aligned to its element type. The file appears under its name only when it
/// is complete and synced.
/// Throws FileError (disk full, unwritable), ArgumentError (a name twice or not UTF-8, bytes that
/// do not fit the shape).
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const Metadata& metadata = {{"format", "pt"}});
/// The same into a file that the caller finishes, such as one of a checkpoint.
void write_safetensors(OutputFile& out, std::span<const TensorView> tensors,
                       const Metadata& metadata = {{"format", "pt"}});

/// A tensor in a file: bytes [begin, end) of its data.
struct TensorInfo {
  std::string name;
  Dtype dtype;
  Shape shape;
  std::uint64_t begin, end;

  std::uint64_t elements() const;
};

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  ///< in the order of their bytes
  Metadata metadata;
};

/// Reads the JSON of a header whose file has `data_bytes` bytes of data. `file` is the name for the
/// errors. Throws FileError unless all holds: UTF-8, JSON, no key twice, known element types, the
/// tensors cover the data without gap or overlap, each exactly as large as its shape says.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file);

/// An open file whose header has been checked.
class SafetensorsFile {
  InputFile file;
  std::uint64_t data_start = 0;
  SafetensorsHeader header;
  std::unordered_map<std::string_view, std::size_t> index;

 public:
  /// Throws FileError that names the file, the tensor and the fault.
  explicit SafetensorsFile(std::filesystem::path path);
  SafetensorsFile(SafetensorsFile&&) = default;

  const std::filesystem::path& path() const { return file.path(); }
  const std::vector<TensorInfo>& tensors() const { return header.tensors; }
  const Metadata& metadata() const { return header.metadata; }
  /// The tensor of this name, or nullptr.
  const TensorInfo* find(std::string_view name) const;

  /// Copies a tensor's elements to `into`, which has room for all of them as type `as`, at any
  /// alignment. f32, f64, f16 and bf16 are converted to each other, rounded to nearest; any other
  /// type is read only as itself. Throws FileError: no such tensor, no such conversion, a file cut
  /// short.
  void read(std::string_view name, void* into, Dtype as) const;
  void read(const TensorInfo& tensor, void* into, Dtype as) const;
  /// Bytes [from, from + bytes) of a tensor, as they lie in the file.
  void read_bytes(const TensorInfo& tensor, std::uint64_t from, void* into,
                  std::size_t bytes) const;
};

/// Whether SafetensorsFile::read can turn `from` into `to`.
bool convertible(Dtype from, Dtype to);

}  // namespace sinter
