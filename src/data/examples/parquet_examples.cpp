// SPDX-License-Identifier: Apache-2.0
// Examples written as columns of Parquet files, which Apache Arrow reads where a build has it.
#include <fmt/format.h>

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

#include <algorithm>
#include <exception>
#include <memory>
#endif

namespace sinter::detail {

#if SINTER_HAS_ARROW
namespace {

constexpr std::int64_t rows_at_a_time = 4096;

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

/// A column of texts in a row group, from the first row to the last.
class TextColumn {
  std::string name;
  std::shared_ptr<parquet::ColumnReader> column;
  std::vector<std::int16_t> levels = std::vector<std::int16_t>(rows_at_a_time);
  std::vector<parquet::ByteArray> values = std::vector<parquet::ByteArray>(rows_at_a_time);

 public:
  using Texts = std::vector<std::optional<std::string>>;  // none where it is null

  TextColumn(parquet::RowGroupReader& group, int place, std::string n)
      : name(std::move(n)), column(asked([&] { return group.Column(place); })) {}

  const std::string& its_name() const { return name; }

  /// Of the next rows, rows_at_a_time at most.
  /// throws    BadFile
  Texts next(std::int64_t rows, TextBudget& budget) {
    auto& reader = static_cast<parquet::ByteArrayReader&>(*column);
    const std::int16_t there = column->descr()->max_definition_level();
    Texts texts;
    texts.reserve(std::size_t(rows));
    while (std::int64_t(texts.size()) < rows) {
      std::int64_t of_them = 0;  // values that are not null
      const std::int64_t read = asked([&] {
        if (!reader.HasNext()) return std::int64_t{0};
        return reader.ReadBatch(rows - std::int64_t(texts.size()), levels.data(), nullptr,
                                values.data(), &of_them);
      });
      if (read == 0)
        throw BadFile(fmt::format("its column \"{}\" has fewer rows than it says", name));
      auto value = values.begin();
      for (std::int64_t k = 0; k < read; ++k) {
        if (there > 0 && levels[std::size_t(k)] < there) {
          texts.emplace_back();
          budget.take(0);
          continue;
        }
        if (value == values.begin() + of_them)
          throw BadFile(fmt::format("its column \"{}\" has fewer values than it says", name));
        budget.take(value->len);
        texts.emplace_back(std::in_place, reinterpret_cast<const char*>(value->ptr), value->len);
        ++value;
      }
    }
    return texts;
  }
};

std::string type_of(const parquet::schema::Node& node) {
  if (node.is_repeated()) return "a list";
  if (!node.logical_type()->is_none()) return node.logical_type()->ToString();
  if (node.is_group()) return "a group of columns";
  return parquet::TypeToString(
      static_cast<const parquet::schema::PrimitiveNode&>(node).physical_type());
}

/// A column of texts, among those that a file stores.
struct Place {
  int leaf;
  std::string name;
};

/// throws    BadFile where there is no such column, or it is not of texts
Place place_of(const std::string& asked_for, const parquet::SchemaDescriptor& schema, bool named) {
  const parquet::schema::GroupNode& columns = *schema.group_node();
  std::vector<std::string> names;
  for (int k = 0; k < columns.field_count(); ++k) names.push_back(columns.field(k)->name());
  const std::size_t place = column_of(asked_for, named ? &names : nullptr, "its schema");
  if (place >= names.size())
    throw BadFile(
        fmt::format("it has {} columns, and number {} is asked for", names.size(), place + 1));
  const parquet::schema::Node& node = *columns.field(int(place));
  const bool text = node.is_primitive() && !node.is_repeated() && node.logical_type()->is_string();
  if (const int leaf = schema.ColumnIndex(node);
      text && leaf >= 0 && schema.Column(leaf)->physical_type() == parquet::Type::BYTE_ARRAY)
    return {leaf, printable(names[place])};
  throw BadFile(fmt::format("its column \"{}\" is of the type {}, and not of text",
                            printable(names[place]), type_of(node)));
}

/// The texts of a row, or why it is none.
struct Row {
  ExampleTexts texts;
  std::string problem;

  void add(std::optional<std::string>& text, const std::string& column) {
    if (text)
      texts.turns.push_back(*std::move(text));
    else if (problem.empty())
      problem = fmt::format("its column \"{}\" is null", column);
  }
};

void read_parquet(std::string_view file, const OnRecord& on_record, const TableFormat& format,
                  const AvailableMemory& available) {
  arrow::CappedMemoryPool memory(arrow::system_memory_pool(), available.bytes);
  TextBudget budget(available);
  parquet::ReaderProperties properties(&memory);
  properties.set_page_checksum_verification(true);
  const auto reader = asked([&] {
    return parquet::ParquetFileReader::Open(
        std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
            reinterpret_cast<const std::uint8_t*>(file.data()), std::int64_t(file.size()))),
        properties);
  });
  const parquet::FileMetaData& all = *reader->metadata();
  const bool alone = format.context.empty();
  const Place label_place = place_of(format.label, *all.schema(), format.header);
  const Place context_place =
      alone ? label_place : place_of(format.context, *all.schema(), format.header);
  std::int64_t number = 1;
  for (int g = 0; g < all.num_row_groups(); ++g) {
    const auto group = asked([&] { return reader->RowGroup(g); });
    TextColumn labels(*group, label_place.leaf, label_place.name);
    std::optional<TextColumn> contexts;
    if (!alone) contexts.emplace(*group, context_place.leaf, context_place.name);
    for (std::int64_t left = group->metadata()->num_rows(); left > 0; left -= rows_at_a_time) {
      const std::int64_t here = std::min(left, rows_at_a_time);
      TextColumn::Texts label = labels.next(here, budget), context;
      if (contexts) context = contexts->next(here, budget);
      for (std::size_t k = 0; k < label.size(); ++k) {
        Row row{{{}, alone}, {}};
        if (contexts) row.add(context[k], contexts->its_name());
        row.add(label[k], labels.its_name());
        on_record(number++, [its = std::move(row)] {
          if (!its.problem.empty()) throw BadRecord(its.problem);
          return its.texts;
        });
      }
    }
  }
  if (number - 1 != all.num_rows())
    throw BadFile(
        fmt::format("it says that it has {} rows, and has {}", all.num_rows(), number - 1));
}

}  // namespace
#else
namespace {

[[noreturn]] void read_parquet(std::string_view, const OnRecord&, const TableFormat&,
                               const AvailableMemory&) {
  throw BadFile(
      "it is a Parquet file, and this binary was built without Apache Arrow, which reads them. "
      "Build it anew where SINTER_PYTHON in the environment names a Python that has pyarrow, or "
      "with -DSINTER_ARROW=FOLDER of that package, or write the table as TSV or CSV");
}

}  // namespace
#endif

bool is_parquet(std::string_view file) { return file.starts_with("PAR1"); }
bool reads_parquet() { return SINTER_HAS_ARROW != 0; }

ExampleFormat parquet_format(const TableFormat& format, std::optional<AvailableMemory> memory) {
  const std::string_view what = format.header ? "" : "number ";
  const std::string columns =
      format.context.empty()
          ? fmt::format("column {}\"{}\"", what, format.label)
          : fmt::format("columns {0}\"{1}\" and {0}\"{2}\"", what, format.context, format.label);
  return {"row", "rows",
          fmt::format("In Parquet the {} must be of text (string, large_string or a dictionary of "
                      "them), without nulls.",
                      columns),
          [format, memory](std::string_view file, const OnRecord& on_record) {
            read_parquet(file, on_record, format, memory ? *memory : available_memory());
          },
          "row"};
}

}  // namespace sinter::detail
