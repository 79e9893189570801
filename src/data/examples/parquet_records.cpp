// SPDX-License-Identifier: Apache-2.0
// Rows of Parquet files as objects, whose lists and groups of columns are put together from the levels
// of their values (Melnik et al. 2010, Dremel, section 4.3).
#include <concepts>
#include <optional>
#include <span>

#include "data/examples/json_records.hpp"
#include "data/examples/parquet_file.hpp"
#include "files/utf8.hpp"

namespace sinter::detail {

#if SINTER_HAS_ARROW
namespace {

/// A value where it stands in a row, or none where something above it is null or empty.
struct Entry {
  std::int16_t there;     // how many optional and repeated parts of its path are there
  std::int16_t repeated;  // at which list of its path it goes on; 0 begins a row
  Json value;             // null if not all of them are
};

/// A value that is not read, which is no text and no number.
Json unread(std::string_view what) { return Json::array({what}); }

Json json_of(const parquet::ByteArray& bytes, const parquet::ColumnDescriptor& column) {
  if (!column.logical_type()->is_string()) return unread(parquet_type(*column.schema_node()));
  std::string text(reinterpret_cast<const char*>(bytes.ptr), bytes.len);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = well_formed(rest);
    if (size == 0) return unread("bytes that are not UTF-8");
    rest.remove_prefix(size);
  }
  return text;
}
template <class Number>
Json json_of(Number number, const parquet::ColumnDescriptor& column) {
  const parquet::LogicalType& type = *column.logical_type();
  if (!type.is_none() && !type.is_int()) return unread(parquet_type(*column.schema_node()));
  // As JSON lines are read, where numbers that are not negative are unsigned.
  if constexpr (std::integral<Number> && !std::same_as<Number, bool>)
    if (number >= 0) return std::uint64_t(number);
  return number;
}

/// The values of a column without parts, in the group of rows at hand, one after the other.
class Leaf {
 public:
  virtual ~Leaf() = default;
  /// The next value, without taking it; nothing at the end.
  /// throws    BadFile
  virtual std::optional<Entry> next() = 0;
};

template <class Type>
class LeafOf final : public Leaf {
  static constexpr std::int64_t at_a_time = 1024;
  std::shared_ptr<parquet::ColumnReader> column;
  std::vector<std::int16_t> there = std::vector<std::int16_t>(at_a_time),
                            repeated = std::vector<std::int16_t>(at_a_time);
  // An array, as a vector of bool has no data().
  std::unique_ptr<typename Type::c_type[]> values{new typename Type::c_type[at_a_time]{}};
  std::int64_t read = 0, of_them = 0, place = 0, value = 0;

 public:
  explicit LeafOf(std::shared_ptr<parquet::ColumnReader> c) : column(std::move(c)) {}

  std::optional<Entry> next() override {
    if (place == read && !fill()) return std::nullopt;
    const parquet::ColumnDescriptor& its = *column->descr();
    Entry entry{its.max_definition_level() > 0 ? there[std::size_t(place)] : std::int16_t{0},
                its.max_repetition_level() > 0 ? repeated[std::size_t(place)] : std::int16_t{0},
                {}};
    ++place;
    if (entry.there < its.max_definition_level()) return entry;
    if (value == of_them)
      throw BadFile(fmt::format("its column \"{}\" has fewer values than it says",
                                printable(its.path()->ToDotString())));
    entry.value = json_of(values[std::size_t(value++)], its);
    return entry;
  }

 private:
  bool fill() {
    auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(*column);
    place = value = of_them = 0;
    read = asked([&] {
      if (!reader.HasNext()) return std::int64_t{0};
      return reader.ReadBatch(at_a_time, there.data(), repeated.data(), values.get(), &of_them);
    });
    return read > 0;
  }
};

/// The values of a column; nullptr if they are of a type that is never a text or a number here.
std::unique_ptr<Leaf> leaf_of(std::shared_ptr<parquet::ColumnReader> column) {
  using enum parquet::Type::type;
  switch (column->type()) {
    case BOOLEAN:
      return std::make_unique<LeafOf<parquet::BooleanType>>(std::move(column));
    case INT32:
      return std::make_unique<LeafOf<parquet::Int32Type>>(std::move(column));
    case INT64:
      return std::make_unique<LeafOf<parquet::Int64Type>>(std::move(column));
    case FLOAT:
      return std::make_unique<LeafOf<parquet::FloatType>>(std::move(column));
    case DOUBLE:
      return std::make_unique<LeafOf<parquet::DoubleType>>(std::move(column));
    case BYTE_ARRAY:
      return std::make_unique<LeafOf<parquet::ByteArrayType>>(std::move(column));
    default:
      return nullptr;
  }
}

/// A step from a row to a value.
struct Step {
  enum class Kind { member, optional, list } kind;
  std::string name{};  // of a member
};

/// True if a node is a list as Parquet writes them: a group of one repeated part.
bool is_list(const parquet::schema::Node& node) {
  if (!node.is_group() || !node.logical_type()->is_list()) return false;
  const auto& group = static_cast<const parquet::schema::GroupNode&>(node);
  return group.field_count() == 1 && group.field(0)->is_repeated();
}

/// True if the repeated part of a list holds its elements, and is none itself (Parquet's rules for
/// files of older writers).
bool holds_elements(const parquet::schema::Node& part, const std::string& list) {
  return part.is_group() &&
         static_cast<const parquet::schema::GroupNode&>(part).field_count() == 1 &&
         part.name() != "array" && part.name() != list + "_tuple";
}

/// The steps to a column without parts, whose nodes are `path`, the first below the root.
std::vector<Step> steps_of(std::span<const parquet::schema::Node* const> path) {
  using enum Step::Kind;
  std::vector<Step> steps;
  bool element = false;  // whether the node is an element of a list, whose name says nothing
  for (std::size_t k = 0; k < path.size(); ++k) {
    const parquet::schema::Node& node = *path[k];
    if (!element) steps.push_back({member, node.name()});
    if (node.is_optional()) steps.push_back({optional});
    if (node.is_repeated()) steps.push_back({list});
    element = false;
    if (k + 1 == path.size() || !is_list(node)) continue;
    steps.push_back({list});
    ++k;
    element = holds_elements(*path[k], node.name());
  }
  return steps;
}

/// A column without parts, and how its values become parts of objects.
class Assembler {
  std::unique_ptr<Leaf> leaf;
  const std::vector<Step>* steps;
  std::optional<Entry> ahead;
  std::vector<std::size_t> places;  // in each list of the path, where the last value stands

 public:
  Assembler(std::unique_ptr<Leaf> l, const std::vector<Step>& s)
      : leaf(std::move(l)), steps(&s), ahead(leaf->next()), places(s.size()) {}

  /// Adds the values of the next row, and takes their bytes from the budget. Returns false if there
  /// are no more.
  /// throws    BadFile
  bool add_to(Json& row, TextBudget& budget) {
    if (!ahead) return false;
    do {
      budget.take(ahead->value.is_string() ? ahead->value.get_ref<const std::string&>().size() : 0);
      add(row, *ahead);
      ahead = leaf->next();
    } while (ahead && ahead->repeated > 0);
    return true;
  }

 private:
  void add(Json& row, Entry& entry) {
    Json* at = &row;
    std::int16_t there = 0, lists = 0;
    for (const Step& step : *steps) {
      if (step.kind == Step::Kind::member) {
        if (!at->is_object()) *at = Json::object();
        at = &(*at)[step.name];
        continue;
      }
      const bool is = entry.there > there++;
      if (step.kind == Step::Kind::list) {
        if (!at->is_array()) *at = Json::array();
        if (!is) return;
        std::size_t& place = places[std::size_t(lists++)];
        place = entry.repeated < lists ? 0 : place + std::size_t(entry.repeated == lists);
        while (at->size() <= place) at->push_back(nullptr);
        at = &(*at)[place];
      }
      if (!is) return;
    }
    *at = std::move(entry.value);
  }
};

/// Where a column without parts stands in a file, and the way to its values.
struct Source {
  int leaf;
  std::vector<Step> steps;
};

/// The steps to a column without parts that is read; nothing if it is not.
/// throws    BadFile where it lies too deep
std::optional<std::vector<Step>> steps_in(const ParquetFile& file, int leaf,
                                          const std::vector<std::string>& read) {
  std::vector<const parquet::schema::Node*> path;
  for (const parquet::schema::Node* node = file.schema().Column(leaf)->schema_node().get();
       node->parent(); node = node->parent())
    path.insert(path.begin(), node);
  const std::string& name = path[0]->name();
  if (std::ranges::find(read, name) == read.end()) return std::nullopt;
  std::vector<Step> steps = steps_of(path);
  if (steps.size() > deepest_json)
    throw BadFile(fmt::format("its column \"{}\" is nested too deep", printable(name)));
  return steps;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The columns without parts that are read.
/// throws    BadFile where a row would have none of those of which it needs one
std::vector<Source> sources_in(const ParquetFile& file, const ParquetFields& wanted) {
  const std::vector<std::string> names = file.names();
  const auto times = [&](const std::string& name) { return std::ranges::count(names, name); };
  if (std::ranges::none_of(wanted.one_of, times))
    throw BadFile(fmt::format("its schema names none of the columns {}; it names {}",
                              listed(wanted.one_of), printable(listed(names))));
  std::vector<std::string> read = wanted.one_of;
  read.insert(read.end(), wanted.others.begin(), wanted.others.end());
  for (const std::string& name : read)
    if (times(name) > 1)
      throw BadFile(fmt::format("its schema names the column \"{}\" more than once", name));
  std::vector<Source> sources;
  for (int leaf = 0; leaf < file.schema().num_columns(); ++leaf)
    if (auto steps = steps_in(file, leaf, read)) sources.push_back({leaf, *std::move(steps)});
  return sources;
}

void read_parquet(std::string_view text, const OnRecord& on_record, const ParquetFields& wanted,
                  const AvailableMemory& available) {
  TextBudget budget(available);
  const ParquetFile file(text, available);
  const std::vector<Source> sources = sources_in(file, wanted);
  std::int64_t number = 1;
  file.for_each_group([&](parquet::RowGroupReader& group, std::int64_t rows) {
    std::vector<Assembler> columns;
    for (const Source& source : sources)
      if (auto leaf = leaf_of(asked([&] { return group.Column(source.leaf); })))
        columns.emplace_back(std::move(leaf), source.steps);
    for (std::int64_t row = 0; row < rows; ++row) {
      auto object = std::make_shared<Json>(Json::object());
      for (Assembler& column : columns)
        if (!column.add_to(*object, budget))
          throw BadFile(fmt::format("a column of it has fewer rows than it says, {}", rows));
      on_record(number++, [object = std::move(object), texts_of = wanted.texts_of] {
        return texts_of(*object);
      });
    }
  });
}

}  // namespace
#else
namespace {

[[noreturn]] void read_parquet(std::string_view, const OnRecord&, const ParquetFields&,
                               const AvailableMemory&) {
  refuse_parquet();
}

}  // namespace
#endif

ExampleFormat parquet_format(ParquetFields fields, std::string_view one, std::string_view many,
                             std::string expected, std::optional<AvailableMemory> memory) {
  return {one, many, std::move(expected),
          [fields = std::make_shared<const ParquetFields>(std::move(fields)), memory](
              std::string_view file, const OnRecord& on_record) {
            read_parquet(file, on_record, *fields, memory ? *memory : available_memory());
          },
          "row"};
}

}  // namespace sinter::detail
