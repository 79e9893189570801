// SPDX-License-Identifier: Apache-2.0
#include "data/array_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "sinter/base/float16.hpp"

namespace sinter::detail {
namespace {

constexpr std::uint64_t max_dimensions = 32, longest_header = std::uint64_t(1) << 20;
constexpr std::uint64_t block = 1 << 16;  // numbers that are handed on at once

/// A number of `bytes` bytes, as they lie in the file.
std::uint64_t bits_of(const unsigned char* from, int bytes, bool big_endian) {
  std::uint64_t bits = 0;
  for (int k = 0; k < bytes; ++k) bits = bits << 8 | from[big_endian ? k : bytes - 1 - k];
  return bits;
}

double real_of(std::uint64_t bits, int bytes) {
  if (bytes == 8) return std::bit_cast<double>(bits);
  if (bytes == 4) return double(std::bit_cast<float>(std::uint32_t(bits)));
  return double(float(std::bit_cast<Float16>(std::uint16_t(bits))));
}

double number_of(const unsigned char* from, const ArrayElement& type) {
  const std::uint64_t bits = bits_of(from, type.bytes, type.big_endian);
  if (type.kind == ArrayElement::Kind::real) return real_of(bits, type.bytes);
  if (type.kind == ArrayElement::Kind::natural) return double(bits);
  const int unused = 64 - 8 * type.bytes;
  return double(std::int64_t(bits << unused) >> unused);
}

/// The type that NumPy calls so, if it is read.
std::optional<ArrayElement> element_of(std::string_view descr) {
  using enum ArrayElement::Kind;
  struct Type {
    std::string_view name;
    ArrayElement element;
  };
  static constexpr Type types[]{
      {"<f2", {real, 2, false}},    {"<f4", {real, 4, false}},    {"<f8", {real, 8, false}},
      {"|i1", {whole, 1, false}},   {"<i2", {whole, 2, false}},   {"<i4", {whole, 4, false}},
      {"<i8", {whole, 8, false}},   {"|u1", {natural, 1, false}}, {"<u2", {natural, 2, false}},
      {"<u4", {natural, 4, false}}, {"<u8", {natural, 8, false}}, {"|b1", {natural, 1, false}}};
  const auto* found = std::ranges::find(types, descr, &Type::name);
  if (found == std::end(types)) return std::nullopt;
  return found->element;
}

/// What a type of NumPy's that is not read is called.
std::string_view word_for(std::string_view descr) {
  const std::size_t kind = descr.find_first_not_of("<>|=");
  switch (kind == descr.npos ? '\0' : descr[kind]) {
    case 'O':
      return "Python objects";
    case 'S':
    case 'a':
    case 'U':
      return "text";
    case 'c':
      return "complex numbers";
    case 'M':
    case 'm':
      return "times";
    case 'V':
      return "records";
    default:
      return descr.starts_with('>') ? "big-endian numbers" : "other numbers";
  }
}

}  // namespace

ArrayFile::ArrayFile(const std::string& p) : path(p), content(array_content(p)) {
  const std::string magic = need(4);
  if (magic == "\x93NUM")
    read_npy(magic);
  else if (magic.starts_with(std::string(2, '\0')))
    read_idx(magic);
  else
    refuse(
        "it begins like neither NumPy's .npy (\\x93NUMPY) nor IDX (two zeros). Name such a file.");
  settle();
}

void ArrayFile::refuse(const std::string& why) const {
  throw FileError(fmt::format("Cannot read {} as an array: {}", printable(path, 4096), why));
}

FileState ArrayFile::state() const {
  const InputFile& file = content->file();
  return {file.path().string(), std::int64_t(file.size()), file.modified()};
}

/// The next bytes of the header.
std::string ArrayFile::need(std::size_t bytes) {
  std::string text(bytes, '\0');
  if (content->read(text.data(), bytes) < bytes)
    refuse(
        fmt::format("it ends at byte {}, in its header. Get the file again.", content->position()));
  return text;
}

void ArrayFile::read_idx(const std::string& magic) {
  struct Type {
    int code;
    ArrayElement element;
  };
  static constexpr Type types[]{
      {0x08, {ArrayElement::Kind::natural, 1, true}}, {0x09, {ArrayElement::Kind::whole, 1, true}},
      {0x0b, {ArrayElement::Kind::whole, 2, true}},   {0x0c, {ArrayElement::Kind::whole, 4, true}},
      {0x0d, {ArrayElement::Kind::real, 4, true}},    {0x0e, {ArrayElement::Kind::real, 8, true}}};
  const int code = static_cast<unsigned char>(magic[2]),
            count = static_cast<unsigned char>(magic[3]);
  const auto* found = std::ranges::find(types, code, &Type::code);
  if (found == std::end(types))
    refuse(
        fmt::format("as IDX its numbers have the type {:#04x} at byte 2; 0x08, 0x09 and 0x0b to "
                    "0x0e are known. Is it another kind of file?",
                    code));
  type = found->element;
  if (count == 0 || std::uint64_t(count) > max_dimensions)
    refuse(fmt::format("as IDX it has {} dimensions (byte 3); 1 to {} are read.", count,
                       max_dimensions));
  const std::string text = need(4 * std::size_t(count));
  for (int d = 0; d < count; ++d)
    dimensions.push_back(
        bits_of(reinterpret_cast<const unsigned char*>(text.data()) + 4 * d, 4, true));
}

void ArrayFile::read_npy(const std::string& magic) {
  const std::string rest = need(4);
  const int version = static_cast<unsigned char>(rest[2]);
  if (magic + rest.substr(0, 2) != "\x93NUMPY")
    refuse("it begins like NumPy's .npy and goes on otherwise, at byte 4. Get the file again.");
  if (version < 1 || version > 3)
    refuse(fmt::format("it is version {}.{} of .npy; 1 to 3 are read.", version, int(rest[3])));
  const std::string size = need(version == 1 ? 2 : 4);
  const std::uint64_t length =
      bits_of(reinterpret_cast<const unsigned char*>(size.data()), int(size.size()), false);
  if (length > longest_header)
    refuse(fmt::format("its header has {} bytes; at most {} are read.", length, longest_header));
  NpyHeader header;
  try {
    header = NpyHeader::parse(need(std::size_t(length)));
  } catch (const std::string& why) {
    refuse(why + ". Save it again with numpy.save.");
  }
  const std::optional<ArrayElement> element = element_of(header.descr);
  if (!element)
    refuse(fmt::format(
        "it holds {} ('{}'); floats (f2, f4, f8), whole numbers (i1 to i8, u1 to u8) and "
        "truths (b1) are read, little-endian. Save array.astype('<f4') instead.",
        word_for(header.descr), printable(header.descr)));
  if (header.shape.empty() || header.shape.size() > max_dimensions)
    refuse(fmt::format("it has {} dimensions; 1 to {} are read, the first of which counts rows.",
                       header.shape.size(), max_dimensions));
  type = *element;
  dimensions = std::move(header.shape);
  columns_first = header.fortran_order;
}

/// Computes the sizes, and compares them with that of the file where it is not compressed.
void ArrayFile::settle() {
  row_count = dimensions.front();
  row_width = 1;
  std::uint64_t bytes = std::uint64_t(type.bytes);
  bool overflows = false;
  for (std::uint64_t d : dimensions) overflows |= __builtin_mul_overflow(bytes, d, &bytes);
  if (std::ranges::count(dimensions, std::uint64_t(0)) > 0)
    refuse(fmt::format("its shape is ({}): it holds no numbers.", fmt::join(dimensions, ", ")));
  if (overflows || bytes > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    refuse(
        fmt::format("its shape is ({}), which is more than any memory holds. Get the file again.",
                    fmt::join(dimensions, ", ")));
  for (std::size_t d = 1; d < dimensions.size(); ++d) row_width *= dimensions[d];
  const std::uint64_t begin = content->position();
  if (const auto size = content->bytes(); size && *size - begin != bytes)
    refuse(
        fmt::format("its shape is ({}), so that {} bytes of numbers follow byte {}, but {} do. "
                    "Get the file again.",
                    fmt::join(dimensions, ", "), bytes, begin, *size - begin));
}

void ArrayFile::read(const std::function<void(std::span<const double>)>& take) {
  if (held_bytes() > 0)
    read_columns_first(take);
  else
    read_rows(take);
  unsigned char more;
  if (content->read(&more, 1) > 0)
    refuse(
        fmt::format("its shape is ({}), but it goes on after its numbers, at byte {} of its "
                    "content. Get the file again.",
                    fmt::join(dimensions, ", "), content->position() - 1));
}

std::uint64_t ArrayFile::held_bytes() const {
  const bool one_way = std::ranges::count_if(dimensions, [](auto d) { return d > 1; }) < 2;
  return columns_first && !one_way ? row_count * row_width * std::uint64_t(type.bytes) : 0;
}

/// Reads the next bytes of the numbers.
void ArrayFile::need_numbers(unsigned char* into, std::size_t bytes) {
  if (content->read(into, bytes) < bytes)
    refuse(
        fmt::format("its shape is ({}), but its numbers end at byte {} of its content. Get the "
                    "file again.",
                    fmt::join(dimensions, ", "), content->position()));
}

void ArrayFile::read_rows(const std::function<void(std::span<const double>)>& take) {
  std::vector<unsigned char> bytes(block * std::size_t(type.bytes));
  std::vector<double> numbers(block);
  for (std::uint64_t left = row_count * row_width; left > 0;) {
    const auto count = std::size_t(std::min(left, block));
    need_numbers(bytes.data(), count * std::size_t(type.bytes));
    for (std::size_t k = 0; k < count; ++k)
      numbers[k] = number_of(bytes.data() + k * std::size_t(type.bytes), type);
    take(std::span(numbers).first(count));
    left -= count;
  }
}

/// Reads all numbers, of which those of a column lie together, and hands them on row by row.
void ArrayFile::read_columns_first(const std::function<void(std::span<const double>)>& take) {
  std::vector<unsigned char> bytes;
  for (std::uint64_t left = held_bytes(); left > 0;) {  // memory grows with what is there
    const auto more = std::size_t(std::min<std::uint64_t>(left, std::uint64_t(64) << 20));
    bytes.resize(bytes.size() + more);
    need_numbers(bytes.data() + bytes.size() - more, more);
    left -= more;
  }
  std::vector<std::uint64_t> strides{1}, index(dimensions.size());
  for (std::uint64_t d : dimensions) strides.push_back(strides.back() * d);
  std::vector<double> numbers;
  const std::uint64_t count = row_count * row_width;
  for (std::uint64_t k = 0, at = 0; k < count; ++k) {
    numbers.push_back(number_of(bytes.data() + at * std::uint64_t(type.bytes), type));
    if (numbers.size() == block || k + 1 == count) {
      take(numbers);
      numbers.clear();
    }
    for (std::size_t d = dimensions.size(); d-- > 0;) {  // to the next number, the last index first
      at += strides[d];
      if (++index[d] < dimensions[d]) break;
      at -= strides[d + 1];
      index[d] = 0;
    }
  }
}

}  // namespace sinter::detail
