// SPDX-License-Identifier: Apache-2.0
// What the readers of Parquet files share: Apache Arrow where a build has it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/examples/example_formats.hpp"
#include "sinter/files/io.hpp"

#if SINTER_HAS_ARROW
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>
#endif

namespace sinter::detail {

#if SINTER_HAS_ARROW

/// Asks Arrow for something, which throws where a file is damaged.
/// throws    BadFile
template <class Ask>
auto asked(const Ask& ask) {
  try {
    return ask();
  } catch (const std::exception& error) {
    throw BadFile(
        fmt::format("Arrow cannot read it as Parquet ({})", printable(error.what(), 400)));
  }
}

/// Counts texts, for a few bytes of a file may stand for many.
class TextBudget {
  AvailableMemory available;
  std::int64_t bytes = 0;

 public:
  explicit TextBudget(AvailableMemory a) : available(std::move(a)) {}

  /// throws    BadFile where the tokens would not fit into the memory
  void take(std::size_t text) {
    constexpr int of_a_row = 8;
    bytes += std::int64_t(text) + of_a_row;
    if (bytes <= available.bytes / std::int64_t(sizeof(std::int32_t))) return;
    throw BadFile(fmt::format(
        "its texts have more than {} bytes, and their tokens, of 4 bytes each, are kept in memory, "
        "but {} {} bytes",
        bytes, available.bound, available.bytes));
  }
};

/// A file in memory, whose pages take no more than the available memory.
class ParquetFile {
  std::unique_ptr<arrow::CappedMemoryPool> memory;
  std::unique_ptr<parquet::ParquetFileReader> reader;

 public:
  /// throws    BadFile
  ParquetFile(std::string_view file, const AvailableMemory& available)
      : memory(std::make_unique<arrow::CappedMemoryPool>(arrow::system_memory_pool(),
                                                         available.bytes)) {
    parquet::ReaderProperties properties(memory.get());
    properties.set_page_checksum_verification(true);
    reader = asked([&] {
      return parquet::ParquetFileReader::Open(
          std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
              reinterpret_cast<const std::uint8_t*>(file.data()), std::int64_t(file.size()))),
          properties);
    });
  }

  const parquet::SchemaDescriptor& schema() const { return *reader->metadata()->schema(); }

  /// The names of the columns, of which those with parts are one.
  std::vector<std::string> names() const {
    const parquet::schema::GroupNode& columns = *schema().group_node();
    std::vector<std::string> all;
    for (int k = 0; k < columns.field_count(); ++k) all.push_back(columns.field(k)->name());
    return all;
  }

  /// Goes through the groups of rows. `read(group, rows)` reads all rows of one.
  /// throws    BadFile, also where they have other rows than the file says
  template <class Read>
  void for_each_group(const Read& read) const {
    const parquet::FileMetaData& all = *reader->metadata();
    std::int64_t rows = 0;
    for (int g = 0; g < all.num_row_groups(); ++g) {
      const auto group = asked([&] { return reader->RowGroup(g); });
      read(*group, group->metadata()->num_rows());
      rows += group->metadata()->num_rows();
    }
    if (rows != all.num_rows())
      throw BadFile(fmt::format("it says that it has {} rows, and has {}", all.num_rows(), rows));
  }
};

/// What a column holds, in Arrow's words.
inline std::string parquet_type(const parquet::schema::Node& node) {
  if (node.is_repeated()) return "a list";
  if (!node.logical_type()->is_none()) return node.logical_type()->ToString();
  if (node.is_group()) return "a group of columns";
  return parquet::TypeToString(
      static_cast<const parquet::schema::PrimitiveNode&>(node).physical_type());
}

#else

/// Refuses a Parquet file, which this build cannot read.
/// throws    BadFile
[[noreturn]] inline void refuse_parquet() {
  throw BadFile(
      "it is a Parquet file, and this binary was built without Apache Arrow, which reads them. "
      "Build it anew where SINTER_PYTHON in the environment names a Python that has pyarrow, or "
      "with -DSINTER_ARROW=FOLDER of that package, or write the table as TSV or CSV");
}

#endif

}  // namespace sinter::detail
