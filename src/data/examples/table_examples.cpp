// SPDX-License-Identifier: Apache-2.0
// Examples written as tables: CSV (RFC 4180) and TSV (IANA's text/tab-separated-values).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "data/examples/example_formats.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

/// A line of a table, or several if a quoted field has line breaks.
struct Record {
  std::int64_t line = 1;  // on which it begins
  std::vector<std::string> fields;
  std::string problem;  // what is wrong with it; empty if nothing is
};

/// Goes through the records of a file.
class Records {
  std::string_view rest;
  char separator;
  bool quotes;  // whether fields may be in quotes
  std::int64_t line = 1;

 public:
  Records(std::string_view file, char s) : rest(file), separator(s), quotes(s != '\t') {
    if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // a byte order mark
  }

  /// The next record that is no blank line; none at the end.
  /// throws    BadFile if a quote is not closed
  std::optional<Record> next() {
    while (!rest.empty() && at_end_of_line()) end_line();
    if (rest.empty()) return std::nullopt;
    Record record{line, {}, {}};
    for (;;) {
      record.fields.push_back(quotes && rest.starts_with('"') ? quoted() : plain(record));
      if (rest.empty() || at_end_of_line()) break;
      if (rest[0] != separator) {
        record.problem =
            fmt::format("field {} goes on behind its closing quote", record.fields.size());
        rest.remove_prefix(std::min(rest.find('\n'), rest.size()));
        break;
      }
      rest.remove_prefix(1);
    }
    end_line();
    return record;
  }

 private:
  bool at_end_of_line() const { return rest.starts_with('\n') || rest.starts_with("\r\n"); }
  void end_line() {
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    ++line;
  }
  std::string plain(Record& record) {
    const char ends[] = {separator, '\n'};
    std::size_t size = std::min(rest.find_first_of({ends, 2}), rest.size());
    if (size > 0 && size < rest.size() && rest[size] == '\n' && rest[size - 1] == '\r') --size;
    const std::string_view field = rest.substr(0, size);
    rest.remove_prefix(size);
    if (quotes && field.find('"') != field.npos)
      record.problem = fmt::format("field {} has a quote, but does not begin with one",
                                   record.fields.size() + 1);
    return std::string(field);
  }
  std::string quoted() {
    std::string field;
    const std::int64_t begin = line;
    for (rest.remove_prefix(1);;) {
      const std::size_t quote = rest.find('"');
      if (quote == rest.npos)
        throw BadFile(fmt::format("the quote that opens a field on line {} is not closed", begin));
      const std::string_view part = rest.substr(0, quote);
      line += std::ranges::count(part, '\n');
      field += part;
      rest.remove_prefix(quote + 1);
      if (!rest.starts_with('"')) return field;
      field += '"';
      rest.remove_prefix(1);
    }
  }
};

constexpr std::string_view first_line = "its first line";

/// How a table is written, and what is read of it.
struct Layout {
  std::vector<std::string> columns;  // names, or numbers from 1
  char separator;
  bool header;
  std::function<ExampleTexts(std::vector<std::string> fields)> of_fields;  // of these columns
  bool labelled = false;  // of LabelledText, whose option for the separator has another name
};

/// A separator of fields, as recipes call it.
struct SeparatorName {
  char separator;
  std::string_view many, of_columns, of_labelled;
};
constexpr SeparatorName separators[] = {
    {'\t', "tabs", ".separator = Separator::tab", ".format = TextFormat::tsv"},
    {',', "commas", ".separator = Separator::comma", ".format = TextFormat::csv"},
    {';', "semicolons", ".separator = Separator::semicolon",
     ".format = TextFormat::csv_semicolons"}};

const SeparatorName& separator_name(char separator) {
  return *std::ranges::find(separators, separator, &SeparatorName::separator);
}

/// What to do where another separator fits, in words that follow an error.
std::string advice_of(const SeparatorName& other, bool labelled) {
  return fmt::format(". With {} between its fields it fits: give the recipe's data {}", other.many,
                     labelled ? other.of_labelled : other.of_columns);
}

/// Where the columns of a layout are in a file.
struct Places {
  std::shared_ptr<const Layout> layout;
  std::vector<std::size_t> columns;
  std::size_t width;  // fields of each row

  /// throws    BadRecord
  ExampleTexts texts_of(const Record& row) const {
    if (!row.problem.empty()) throw BadRecord(row.problem);
    if (row.fields.size() != width)
      throw BadRecord(
          fmt::format("it has {} fields, and the first line has {}", row.fields.size(), width));
    const std::size_t last = std::ranges::max(columns);
    if (last >= width)
      throw BadRecord(fmt::format("it has {} fields, and number {} is asked for{}", width, last + 1,
                                  advice(row.fields.front(), last)));
    std::vector<std::string> fields;
    fields.reserve(columns.size());
    for (std::size_t column : columns) fields.push_back(row.fields[column]);
    return layout->of_fields(std::move(fields));
  }

 private:
  /// Which other separator would cut a row of one field into more than `least`, as an advice.
  std::string advice(const std::string& row, std::size_t least) const {
    if (width > 1) return "";
    for (const SeparatorName& other : separators)
      if (std::size_t(std::ranges::count(row, other.separator)) >= least)
        return advice_of(other, layout->labelled);
    return "";
  }
};

/// The first line of a table; none if it is empty.
/// throws    BadFile
std::optional<Record> first_record(std::string_view file, char separator) {
  return Records(file, separator).next();
}

/// Which other separator would give a table the columns of its layout, in words that follow an error;
/// empty if none would.
std::string other_separator(std::string_view file, const Layout& layout) {
  for (const SeparatorName& other : separators) try {
      const std::optional<Record> header = first_record(file, other.separator);
      for (const std::string& name : layout.columns)
        (void)column_of(name, &header->fields, first_line);
      return advice_of(other, layout.labelled);
    } catch (const BadFile&) {
    }
  return "";
}

/// The places of a layout's columns in a table.
/// throws    BadFile
std::vector<std::size_t> places_of(std::string_view file, const Layout& layout,
                                   const std::vector<std::string>* header) {
  std::vector<std::size_t> places;
  try {
    for (const std::string& name : layout.columns)
      places.push_back(column_of(name, header, first_line));
  } catch (const BadFile& bad) {
    if (!header) throw;
    throw BadFile(bad.what() + other_separator(file, layout));
  }
  return places;
}

void read_table(std::string_view file, const OnRecord& on_record,
                const std::shared_ptr<const Layout>& layout) {
  Records records(file, layout->separator);
  std::optional<Record> record = records.next();
  if (!record) return;
  std::optional<std::vector<std::string>> header;
  if (layout->header) {
    if (!record->problem.empty()) throw BadFile("in its first line, " + record->problem);
    header = record->fields;
  }
  const auto places = std::make_shared<const Places>(
      Places{layout, places_of(file, *layout, header ? &*header : nullptr), record->fields.size()});
  if (header) record = records.next();
  for (; record; record = records.next()) {
    const std::int64_t line = record->line;
    on_record(line, [places, row = std::move(*record)] { return places->texts_of(row); });
  }
}

/// What a row of any table must be.
std::string expected_of_rows(char separator) {
  return fmt::format("Each row must have as many fields as the first, with {} between{}",
                     separator_name(separator).many,
                     separator == '\t' ? "" : ", and quotes as RFC 4180 has them");
}

/// The format of tables whose Parquet files are read so.
ExampleFormat format_of(Layout layout, std::string expected, ExampleFormat parquet) {
  return {"row",
          "rows",
          std::move(expected),
          [layout = std::make_shared<const Layout>(std::move(layout))](std::string_view file,
                                                                       const OnRecord& on_record) {
            read_table(file, on_record, layout);
          },
          "line",
          std::make_shared<const ExampleFormat>(std::move(parquet))};
}

/// The numbers in a field, with blanks between.
/// throws    BadRecord if there are not as many as a label has
std::vector<float> numbers_of(std::string_view text, const LabelledFields& fields) {
  std::vector<float> numbers;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    if (word.empty()) continue;
    double number = 0;
    const char* const begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-');
    const auto parsed = std::from_chars(begin, word.data() + word.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() ||
        !std::isfinite(float(number)))
      throw fields.refusal(text);
    numbers.push_back(float(number));
  }
  if (numbers.size() != std::size_t(fields.classes)) throw fields.refusal(text);
  return numbers;
}

/// throws    BadRecord if it is no class
std::int32_t label_of(const std::string& text, const LabelledFields& fields) {
  if (!fields.names.empty()) return fields.class_named(text);
  std::int32_t label = -1;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, label);
  if (parsed.ec == std::errc() && parsed.ptr == end && label >= 0 && label < fields.classes)
    return label;
  throw fields.refusal(text);
}

}  // namespace

std::size_t column_of(const std::string& name, const std::vector<std::string>* header,
                      std::string_view source) {
  if (header) {
    const auto found = std::ranges::find(*header, name);
    if (found != header->end() && std::ranges::count(*header, name) == 1)
      return std::size_t(found - header->begin());
    std::string names;
    for (const std::string& one : *header) names += (names.empty() ? "" : ", ") + one;
    throw BadFile(fmt::format("{} names the column \"{}\" {}; it names {}", source, name,
                              found == header->end() ? "nowhere" : "more than once",
                              printable(names)));
  }
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  if (parsed.ptr == end && parsed.ec == std::errc() && number >= 1) return number - 1;
  throw BadFile(
      fmt::format("the recipe says that it has no line of names, so that columns have numbers from "
                  "1, and \"{}\" "
                  "is none",
                  name));
}

namespace {

ExampleFormat labelled_parquet_format(
    const LabelledFields& fields, bool header,
    std::function<ExampleTexts(std::vector<std::string> fields)> of_fields) {
  using enum ParquetColumns::Numbers;
  const bool numbers = fields.names.empty();
  ParquetColumns columns{fields.texts, header,
                         fields.kind == LabelKind::numbers ? any
                         : numbers                         ? whole
                                                           : none,
                         std::move(of_fields)};
  columns.names.push_back(fields.label);
  return parquet_format(
      std::move(columns),
      fmt::format("In Parquet the texts must be columns of text (string, large_string or a "
                  "dictionary of them), and the column \"{}\" {}{}, all without nulls.",
                  fields.label, fields.expected(), numbers ? ", as a number or as text" : ""));
}

}  // namespace

ExampleFormat table_format(const TableFormat& format) {
  const bool alone = format.context.empty();
  Layout layout{
      {format.label}, format.separator, format.header, [alone](std::vector<std::string> row) {
        return ExampleTexts{std::move(row), alone};
      }};
  if (!alone) layout.columns.insert(layout.columns.begin(), format.context);
  return format_of(std::move(layout), expected_of_rows(format.separator) + ".",
                   parquet_format(format));
}

ExampleFormat labelled_table_format(const LabelledFields& fields, char separator, bool header) {
  Layout layout{fields.texts, separator, header,
                [fields](std::vector<std::string> row) -> ExampleTexts {
                  const std::string label = std::move(row.back());
                  row.pop_back();
                  if (fields.kind == LabelKind::numbers)
                    return {std::move(row), false, -1, numbers_of(label, fields)};
                  return {std::move(row), false, label_of(label, fields)};
                },
                true};
  layout.columns.push_back(fields.label);
  ExampleFormat parquet = labelled_parquet_format(fields, header, layout.of_fields);
  return format_of(std::move(layout),
                   fmt::format("{}, and in the column \"{}\" {}.", expected_of_rows(separator),
                               fields.label, fields.expected()),
                   std::move(parquet));
}

}  // namespace sinter::detail
