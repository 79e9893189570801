// SPDX-License-Identifier: Apache-2.0
// The checks of a safetensors header, in the order of the format's own reader. No key may be there
// twice, because readers differ in which of the two they take.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "files/utf8.hpp"
#include "sinter/files/safetensors.hpp"

namespace sinter::detail {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& problem) {
  throw FileError(fmt::format("{} is not a valid safetensors file: {}. Write or fetch it again.",
                              file, problem));
}

[[noreturn]] void fail(const std::string& file, const TensorInfo& tensor,
                       const std::string& problem) {
  fail(file, fmt::format("tensor '{}' {}", printable(tensor.name), problem));
}

/// The position of the first byte that is not part of well-formed UTF-8, or the size of the text.
std::size_t first_ill_formed(std::string_view text) {
  std::size_t at = 0;
  while (std::size_t size = well_formed(text.substr(at))) at += size;
  return at;
}

/// A tensor's object as it stands in the header.
struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<Shape> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

/// Follows the JSON of a header, { name: { dtype, shape, data_offsets } … } with an object of
/// strings as "__metadata__", and refuses anything else on the spot.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
  enum class In { nothing, header, tensor, shape, offsets, metadata };

  const std::string& file;
  In in = In::nothing, next = In::nothing;
  std::string field;  // the last key inside a tensor or the metadata
  std::set<std::string> names;

  bool refuse() const {
    if (in == In::metadata)
      fail(file, fmt::format("its metadata '{}' is not a string", printable(field)));
    if (in == In::nothing || (in == In::header && next != In::tensor))
      fail(file, "its header is not an object of objects");
    if (in == In::header)
      fail(file, fmt::format("tensor '{}' is not described by an object",
                             printable(entries.back().name)));
    fail(file, fmt::format("tensor '{}' has a '{}' that is not of the format's kind",
                           printable(entries.back().name), field));
  }
  [[noreturn]] void twice(const std::string& name) const {
    fail(file, fmt::format("its header has the key '{}' twice", printable(name)));
  }
  void check_complete(const Entry& entry) const {
    const char* missing = !entry.dtype     ? "dtype"
                          : !entry.shape   ? "shape"
                          : !entry.offsets ? "data_offsets"
                                           : nullptr;
    if (missing) fail(file, fmt::format("tensor '{}' has no '{}'", printable(entry.name), missing));
    if (entry.offsets->size() != 2)
      fail(file, fmt::format("tensor '{}' has {} data_offsets instead of 2", printable(entry.name),
                             entry.offsets->size()));
  }

 public:
  std::vector<Entry> entries;
  Metadata metadata;

  explicit HeaderReader(const std::string& file_name) : file(file_name) {}

  bool null() override { return refuse(); }
  bool boolean(bool) override { return refuse(); }
  bool number_integer(number_integer_t) override { return refuse(); }  // a negative one
  bool number_float(number_float_t, const string_t&) override { return refuse(); }
  bool binary(binary_t&) override { return refuse(); }

  bool number_unsigned(number_unsigned_t value) override {
    if (in == In::offsets) {
      entries.back().offsets->push_back(value);
    } else if (in == In::shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        fail(file,
             fmt::format("tensor '{}' has a shape that overflows", printable(entries.back().name)));
      entries.back().shape->push_back(static_cast<std::int64_t>(value));
    } else {
      return refuse();
    }
    return true;
  }

  bool string(string_t& text) override {
    if (in == In::metadata)
      metadata[field] = std::move(text);
    else if (in == In::tensor && field == "dtype")
      entries.back().dtype = std::move(text);
    else
      return refuse();
    return true;
  }

  bool key(string_t& text) override {
    if (in == In::header) {
      if (!names.insert(text).second) twice(text);
      next = text == "__metadata__" ? In::metadata : In::tensor;
      if (next == In::tensor) entries.push_back({std::move(text), {}, {}, {}});
      return true;
    }
    field = std::move(text);
    if (in == In::metadata) {
      if (metadata.contains(field)) twice(field);
      return true;
    }
    const Entry& entry = entries.back();
    if (field != "dtype" && field != "shape" && field != "data_offsets")
      fail(file, fmt::format("tensor '{}' has the unknown key '{}'", printable(entry.name),
                             printable(field)));
    if ((field == "dtype" && entry.dtype) || (field == "shape" && entry.shape) ||
        (field == "data_offsets" && entry.offsets))
      twice(entry.name + "." + field);
    return true;
  }

  bool start_object(std::size_t) override {
    if (in == In::nothing)
      in = In::header;
    else if (in == In::header)
      in = next;
    else
      return refuse();
    return true;
  }

  bool end_object() override {
    if (in == In::tensor) check_complete(entries.back());
    in = in == In::header ? In::nothing : In::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (in != In::tensor || field == "dtype") return refuse();
    in = field == "shape" ? In::shape : In::offsets;
    if (in == In::shape)
      entries.back().shape.emplace();
    else
      entries.back().offsets.emplace();
    return true;
  }

  bool end_array() override {
    in = In::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail(file,
         fmt::format("its header is not JSON at byte {} ({})", position, printable(error.what())));
  }
};

/// The size of a tensor in bytes, as its type and shape say.
std::uint64_t checked_bytes(const TensorInfo& tensor, const std::string& file) {
  std::uint64_t bits = dtype_bits(tensor.dtype);
  for (std::int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(extent), &bits))
      fail(file, tensor,
           fmt::format("has the shape {}, whose size overflows",
                       printable(to_string(tensor.shape))));
  if (bits % 8 != 0)
    fail(file, tensor,
         fmt::format("of {} and shape {} does not end at a whole byte", dtype_name(tensor.dtype),
                     printable(to_string(tensor.shape))));
  return bits / 8;
}

/// Checks that the tensors cover [0, data_bytes) without gap or overlap, each as large as its shape
/// says.
void check_layout(std::vector<TensorInfo>& tensors, std::uint64_t data_bytes,
                  const std::string& file) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t at = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != at || tensor.end < tensor.begin)
      fail(file, tensor,
           fmt::format("has the data_offsets [{}, {}], but must begin at {}, where "
                       "the tensor before it ends, and not end before it begins",
                       tensor.begin, tensor.end, at));
    at = tensor.end;
  }
  for (const TensorInfo& tensor : tensors) {
    std::uint64_t bytes = checked_bytes(tensor, file);
    if (bytes != tensor.end - tensor.begin)
      fail(file, tensor,
           fmt::format("has {} bytes, but {} of shape {} takes {}", tensor.end - tensor.begin,
                       dtype_name(tensor.dtype), printable(to_string(tensor.shape)), bytes));
  }
  if (at != data_bytes)
    fail(file, fmt::format("{}it has {} bytes of data, but its header describes {}",
                           tensors.empty()
                               ? ""
                               : fmt::format("after tensor '{}', ", printable(tensors.back().name)),
                           data_bytes, at));
}

}  // namespace

std::uint64_t TensorInfo::elements() const {
  std::uint64_t count = 1;
  for (std::int64_t extent : shape) count *= static_cast<std::uint64_t>(extent);
  return count;
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file) {
  if (std::size_t at = first_ill_formed(json); at < json.size())
    fail(file, fmt::format("its header is not UTF-8 at byte {}", at));
  // The JSON library skips a byte order mark and takes a zero byte for the end.
  if (!json.starts_with('{')) fail(file, "its header does not begin with '{'");
  if (std::size_t at = json.find('\0'); at != json.npos)
    fail(file, fmt::format("its header is not JSON at byte {} (a zero byte)", at));

  HeaderReader reader(file);
  nlohmann::json::sax_parse(json, &reader);

  SafetensorsHeader header{{}, std::move(reader.metadata)};
  for (Entry& entry : reader.entries) {
    std::optional<Dtype> dtype = dtype_of(*entry.dtype);
    if (!dtype)
      fail(file, fmt::format("tensor '{}' has the unknown type '{}'", printable(entry.name),
                             printable(*entry.dtype)));
    header.tensors.push_back({std::move(entry.name), *dtype, std::move(*entry.shape),
                              (*entry.offsets)[0], (*entry.offsets)[1]});
  }
  check_layout(header.tensors, data_bytes, file);
  return header;
}

}  // namespace sinter::detail
