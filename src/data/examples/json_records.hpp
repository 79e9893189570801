// SPDX-License-Identifier: Apache-2.0
// What the readers of JSON lines share.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/examples/example_formats.hpp"
#include "files/json.hpp"

namespace sinter::detail {

using Json = nlohmann::ordered_json;

/// The object of a line.
/// throws    BadRecord
Json object_of(std::string_view line);
/// A field of an object.
/// throws    BadRecord
const Json& field(const Json& object, const std::string& name);
/// A value that is a text; `what` names it.
/// throws    BadRecord
const std::string& text_of(const Json& value, const std::string& what);
/// A field of an object that is a text.
/// throws    BadRecord
const std::string& text_in(const Json& object, const std::string& name);
/// The texts of a dialogue's "turns".
/// throws    BadRecord
std::vector<std::string> turns_of(const Json& object);
/// Records that are objects, each in a line that is not blank. `one` and `many` are what they are called,
/// and `parquet` is the same of Parquet files, if there is one.
ExampleFormat lines_format(std::string_view one, std::string_view many, std::string expected,
                           std::function<ExampleTexts(const Json&)> texts_of,
                           std::optional<ExampleFormat> parquet = {});

/// Which columns of a Parquet file become the fields of objects, as JSON lines have them. Lists and
/// groups of columns become lists and objects.
struct ParquetFields {
  std::vector<std::string> one_of;  ///< at least one of them must be there
  std::vector<std::string> others;  ///< read if they are there
  std::function<ExampleTexts(const Json&)> texts_of;
};
/// Rows of a Parquet file as objects. Values that are no texts, numbers or truth values are lists with
/// the name of their type. Reading throws BadFile as the other parquet_format() does, or where none of
/// the columns is there. `one` and `many` are what records are called.
ExampleFormat parquet_format(ParquetFields fields, std::string_view one, std::string_view many,
                             std::string expected, std::optional<AvailableMemory> memory = {});

}  // namespace sinter::detail
