// SPDX-License-Identifier: Apache-2.0
// A file that holds one array of numbers.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/file_state.hpp"
#include "sinter/files/decompress.hpp"

namespace sinter::detail {

/// The type of the numbers in a file.
struct ArrayElement {
  enum class Kind { natural, whole, real } kind;  ///< without a sign, with one, floating point
  int bytes;                                      ///< of each: 1, 2, 4 or 8; of a real 2, 4 or 8
  bool big_endian;
};

/// The bytes of an array, from front to back.
struct ArrayContent {
  virtual ~ArrayContent() = default;
  virtual const InputFile& file() const = 0;
  /// How many there are; none where that shows only as they are read.
  virtual std::optional<std::uint64_t> bytes() const = 0;
  virtual std::uint64_t position() const = 0;
  virtual std::size_t read(void* into, std::size_t bytes) = 0;
};

/// Opens a file of an array, or one of a .npz file, which "PATH:NAME" names; the name may be left out
/// of a .npz file with one array.
/// throws    FileError if it cannot be read, or is such a file without an array of the name, damaged,
///           encrypted or compressed by another method than deflate
std::unique_ptr<ArrayContent> array_content(const std::string& path);
/// The names of the arrays in a .npz file, without ".npy"; none if the file is no zip archive.
/// throws    FileError that names a damaged archive; FileError if the file cannot be read
std::optional<std::vector<std::string>> npz_names(const std::string& path);

/// Reads NumPy's .npy and MNIST's IDX, also compressed, and an array of a .npz file, which "PATH:NAME"
/// names. Numbers are given row by row, the last index first, in whichever order they lie.
class ArrayFile {
  std::string path;
  std::unique_ptr<ArrayContent> content;
  ArrayElement type{};
  std::vector<std::uint64_t> dimensions;
  std::uint64_t row_count = 0, row_width = 0;
  bool columns_first = false;  // numbers lie with the first index first (Fortran's order)

 public:
  /// Reads the header.
  /// throws    FileError if it is that of neither format, or of an array that is not read; for an
  ///           array without numbers; if the file is shorter or longer than the header says, where
  ///           that shows already; for a .npz file without an array of the name, with several of
  ///           which none is named, or that is encrypted, damaged, or compressed by another method
  ///           than deflate
  explicit ArrayFile(const std::string& path);

  const ArrayElement& element() const { return type; }
  const std::vector<std::uint64_t>& shape() const { return dimensions; }
  /// The first dimension, and the product of the others: at least 1, and together below 2⁶³.
  std::uint64_t rows() const { return row_count; }
  std::uint64_t width() const { return row_width; }
  FileState state() const;
  /// The path, with the name of the array if it was given.
  const std::string& name() const { return path; }
  /// Bytes of memory that read() takes: those of all numbers as they lie, if that is not row by row;
  /// else 0.
  std::uint64_t held_bytes() const;

  /// Calls take(numbers) with all numbers, block by block. It may be called once.
  /// throws    FileError if they are fewer than the header says, or anything follows them
  void read(const std::function<void(std::span<const double>)>& take);

  /// Throws FileError: "Cannot read PATH as an array: <why>".
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string need(std::size_t bytes);
  void need_numbers(unsigned char* into, std::size_t bytes);
  void read_rows(const std::function<void(std::span<const double>)>& take);
  void read_columns_first(const std::function<void(std::span<const double>)>& take);
  void read_idx(const std::string& magic);
  void read_npy(const std::string& magic);
  void settle();
};

/// The header of a .npy file: a Python dictionary as NumPy writes it.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;

  /// throws    std::string, which says what is wrong with the text
  static NpyHeader parse(std::string_view text);
};

}  // namespace sinter::detail
