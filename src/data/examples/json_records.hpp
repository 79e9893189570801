// SPDX-License-Identifier: Apache-2.0
// What the readers of JSON lines share.
#pragma once
#include <functional>
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
/// Goes through the lines of a file that are not blank.
void read_lines(std::string_view file, const OnRecord& on_record,
                const std::function<ExampleTexts(const Json&)>& texts_of);

}  // namespace sinter::detail
