// SPDX-License-Identifier: Apache-2.0
// Examples written as columns of Parquet files, which Apache Arrow reads where a build has it.
#include "data/examples/parquet_file.hpp"

namespace sinter::detail {

#if SINTER_HAS_ARROW
namespace {

constexpr std::int64_t rows_at_a_time = 4096;

using Texts = std::vector<std::optional<std::string>>;  // none where a value is null

std::string text_of_value(const parquet::ByteArray& value) {
  return {reinterpret_cast<const char*>(value.ptr), value.len};
}
std::string text_of_value(std::int32_t value) { return std::to_string(value); }
std::string text_of_value(std::int64_t value) { return std::to_string(value); }
std::string text_of_value(float value) { return fmt::format("{}", value); }
std::string text_of_value(double value) { return fmt::format("{}", value); }

/// A column of a row group, from the first row to the last.
class Column {
  std::string name;

 public:
  explicit Column(std::string n) : name(std::move(n)) {}
  virtual ~Column() = default;

  const std::string& its_name() const { return name; }

  /// Of the next rows, rows_at_a_time at most.
  /// throws    BadFile
  virtual Texts next(std::int64_t rows, TextBudget& budget) = 0;
};

/// A column whose values are stored so.
template <class Type>
class ColumnOf final : public Column {
  using Value = typename Type::c_type;
  std::shared_ptr<parquet::ColumnReader> column;
  std::vector<std::int16_t> levels = std::vector<std::int16_t>(rows_at_a_time);
  std::vector<Value> values = std::vector<Value>(rows_at_a_time);

 public:
  ColumnOf(parquet::RowGroupReader& group, int place, std::string n)
      : Column(std::move(n)), column(asked([&] { return group.Column(place); })) {}

  Texts next(std::int64_t rows, TextBudget& budget) override {
    auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(*column);
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
        throw BadFile(fmt::format("its column \"{}\" has fewer rows than it says", its_name()));
      auto value = values.begin();
      for (std::int64_t k = 0; k < read; ++k) {
        if (there > 0 && levels[std::size_t(k)] < there) {
          texts.emplace_back();
          budget.take(0);
          continue;
        }
        if (value == values.begin() + of_them)
          throw BadFile(fmt::format("its column \"{}\" has fewer values than it says", its_name()));
        texts.push_back(text_of_value(*value));
        budget.take(texts.back()->size());
        ++value;
      }
    }
    return texts;
  }
};

/// A column of a file, among those that it stores.
struct Place {
  int leaf;
  std::string name;
  parquet::Type::type type;

  std::unique_ptr<Column> in(parquet::RowGroupReader& group) const {
    if (type == parquet::Type::INT32)
      return std::make_unique<ColumnOf<parquet::Int32Type>>(group, leaf, name);
    if (type == parquet::Type::INT64)
      return std::make_unique<ColumnOf<parquet::Int64Type>>(group, leaf, name);
    if (type == parquet::Type::FLOAT)
      return std::make_unique<ColumnOf<parquet::FloatType>>(group, leaf, name);
    if (type == parquet::Type::DOUBLE)
      return std::make_unique<ColumnOf<parquet::DoubleType>>(group, leaf, name);
    return std::make_unique<ColumnOf<parquet::ByteArrayType>>(group, leaf, name);
  }
};

using Numbers = ParquetColumns::Numbers;

/// Whether a column is of such numbers; whole ones are as Arrow writes all but dates, times and
/// decimals.
bool is_of(Numbers numbers, const parquet::schema::Node& node, parquet::Type::type type) {
  if (numbers == Numbers::any && (type == parquet::Type::FLOAT || type == parquet::Type::DOUBLE))
    return true;
  return numbers != Numbers::none &&
         (type == parquet::Type::INT32 || type == parquet::Type::INT64) &&
         (node.logical_type()->is_none() || node.logical_type()->is_int());
}

/// throws    BadFile where there is no such column, or it is not of texts, nor of numbers where they
///           may be
Place place_of(const std::string& asked_for, const ParquetFile& file, bool named, Numbers numbers) {
  const parquet::SchemaDescriptor& schema = file.schema();
  const std::vector<std::string> names = file.names();
  const std::size_t place = column_of(asked_for, named ? &names : nullptr, "its schema");
  if (place >= names.size())
    throw BadFile(
        fmt::format("it has {} columns, and number {} is asked for", names.size(), place + 1));
  const parquet::schema::Node& node = *schema.group_node()->field(int(place));
  const int leaf = node.is_primitive() && !node.is_repeated() ? schema.ColumnIndex(node) : -1;
  if (leaf >= 0) {
    const parquet::Type::type type = schema.Column(leaf)->physical_type();
    const bool text = node.logical_type()->is_string() && type == parquet::Type::BYTE_ARRAY;
    if (text || is_of(numbers, node, type)) return {leaf, printable(names[place]), type};
  }
  throw BadFile(fmt::format("its column \"{}\" is of the type {}, and not of text{}",
                            printable(names[place]), parquet_type(node),
                            numbers == Numbers::none    ? ""
                            : numbers == Numbers::whole ? " or whole numbers"
                                                        : " or numbers"));
}

/// The fields of a row, or why it is none.
struct Row {
  std::vector<std::string> fields;
  std::string problem;

  void add(std::optional<std::string>& text, const std::string& column) {
    if (text)
      fields.push_back(*std::move(text));
    else if (problem.empty())
      problem = fmt::format("its column \"{}\" is null", column);
  }
};

void read_parquet(std::string_view text, const OnRecord& on_record, const ParquetColumns& wanted,
                  const AvailableMemory& available) {
  TextBudget budget(available);
  const ParquetFile file(text, available);
  std::vector<Place> places;
  for (const std::string& name : wanted.names)
    places.push_back(
        place_of(name, file, wanted.header,
                 places.size() + 1 == wanted.names.size() ? wanted.numbers : Numbers::none));
  std::int64_t number = 1;
  file.for_each_group([&](parquet::RowGroupReader& group, std::int64_t rows) {
    std::vector<std::unique_ptr<Column>> columns;
    for (const Place& place : places) columns.push_back(place.in(group));
    for (std::int64_t left = rows; left > 0; left -= rows_at_a_time) {
      std::vector<Texts> texts;
      for (const auto& column : columns)
        texts.push_back(column->next(std::min(left, rows_at_a_time), budget));
      for (std::size_t k = 0; k < texts.front().size(); ++k) {
        Row row;
        for (std::size_t c = 0; c < columns.size(); ++c)
          row.add(texts[c][k], columns[c]->its_name());
        on_record(number++, [its = std::move(row), of_fields = wanted.of_fields] {
          if (!its.problem.empty()) throw BadRecord(its.problem);
          return of_fields(its.fields);
        });
      }
    }
  });
}

}  // namespace
#else
namespace {

[[noreturn]] void read_parquet(std::string_view, const OnRecord&, const ParquetColumns&,
                               const AvailableMemory&) {
  refuse_parquet();
}

}  // namespace
#endif

bool is_parquet(std::string_view file) { return file.starts_with("PAR1"); }
bool reads_parquet() { return SINTER_HAS_ARROW != 0; }

ExampleFormat parquet_format(ParquetColumns columns, std::string expected,
                             std::optional<AvailableMemory> memory) {
  return {"row", "rows", std::move(expected),
          [columns = std::make_shared<const ParquetColumns>(std::move(columns)), memory](
              std::string_view file, const OnRecord& on_record) {
            read_parquet(file, on_record, *columns, memory ? *memory : available_memory());
          },
          "row"};
}

ExampleFormat parquet_format(const TableFormat& format, std::optional<AvailableMemory> memory) {
  const bool alone = format.context.empty();
  const std::string_view what = format.header ? "" : "number ";
  const std::string columns =
      alone ? fmt::format("column {}\"{}\"", what, format.label)
            : fmt::format("columns {0}\"{1}\" and {0}\"{2}\"", what, format.context, format.label);
  ParquetColumns wanted{
      {format.label},
      format.header,
      ParquetColumns::Numbers::none,
      [alone](std::vector<std::string> row) { return ExampleTexts{std::move(row), alone}; }};
  if (!alone) wanted.names.insert(wanted.names.begin(), format.context);
  return parquet_format(
      std::move(wanted),
      fmt::format("In Parquet the {} must be of text (string, large_string or a dictionary of "
                  "them), without nulls.",
                  columns),
      std::move(memory));
}

}  // namespace sinter::detail
