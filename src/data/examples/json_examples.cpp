// SPDX-License-Identifier: Apache-2.0
// Examples written as JSON lines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/examples/example_formats.hpp"
#include "data/examples/json_records.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

Json object_of(std::string_view line) {
  try {
    Json object = parse_json(line);
    if (object.is_object()) return object;
    throw BadRecord(fmt::format("it is no object, but {}", printable(object.dump(), 40)));
  } catch (const JsonError& error) {
    throw BadRecord(fmt::format("it is not JSON ({})", error.what()));
  }
}

const Json& field(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) throw BadRecord(fmt::format("it has no field \"{}\"", name));
  return *found;
}

const std::string& text_of(const Json& value, const std::string& what) {
  if (!value.is_string())
    throw BadRecord(fmt::format("{} is no text, but {}", what, printable(value.dump(), 40)));
  return value.get_ref<const std::string&>();
}

const std::string& text_in(const Json& object, const std::string& name) {
  return text_of(field(object, name), fmt::format("the field \"{}\"", name));
}

std::vector<std::string> turns_of(const Json& object) {
  const Json& list = field(object, "turns");
  if (!list.is_array())
    throw BadRecord(fmt::format("\"turns\" is no list, but {}", printable(list.dump(), 40)));
  std::vector<std::string> turns;
  turns.reserve(list.size());
  for (const Json& turn : list) {
    const std::string which = fmt::format("turn {}", turns.size() + 1);
    if (!turn.is_array() || turn.size() != 2)
      throw BadRecord(fmt::format("{} is no pair of speaker and text, but {}", which,
                                  printable(turn.dump(), 40)));
    text_of(turn[0], "the speaker of " + which);
    turns.push_back(text_of(turn[1], "the text of " + which));
  }
  return turns;
}

namespace {

/// Goes through the lines of a file that are not blank.
void read_lines(std::string_view file, const OnRecord& on_record,
                const std::function<ExampleTexts(const Json&)>& texts_of) {
  for (std::int64_t number = 1; !file.empty(); ++number) {
    const std::size_t end = file.find('\n');
    const std::string_view line = file.substr(0, end);
    file.remove_prefix(end == file.npos ? file.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    on_record(number, [line, texts_of] { return texts_of(object_of(line)); });
  }
}

/// The class that a label names.
/// throws    BadRecord if it is none
std::int32_t class_in(const Json& label, const LabelledFields& fields) {
  if (!fields.names.empty()) return fields.class_named(text_of(label, "the label"));
  if (!label.is_number_unsigned() || label.get<std::uint64_t>() >= std::uint64_t(fields.classes))
    throw fields.refusal(label.dump());
  return label.get<std::int32_t>();
}

/// The numbers of a label, which is a list, or a number if it has one.
/// throws    BadRecord if there are not as many
std::vector<float> numbers_in(const Json& label, const LabelledFields& fields) {
  const Json list = label.is_array() ? label : Json::array({label});
  std::vector<float> numbers;
  for (const Json& number : list) {
    if (!number.is_number() || !std::isfinite(number.get<float>()))
      throw fields.refusal(label.dump());
    numbers.push_back(number.get<float>());
  }
  if (numbers.size() != std::size_t(fields.classes)) throw fields.refusal(label.dump());
  return numbers;
}

/// True if a list says of each class whether it is there: by true or false, or by numbers with a
/// decimal point. As many whole numbers 0 and 1 say it, too, where they cannot be classes: one of
/// three numbers then comes twice.
bool says_each(const Json& list, const LabelledFields& fields) {
  const auto is_answer = [&](const Json& one) {
    if (one.is_boolean()) return true;
    if (!one.is_number() || (one != 0 && one != 1)) return false;
    return one.is_number_float() || (fields.names.empty() && fields.classes > 2);
  };
  return list.size() == std::size_t(fields.classes) && std::ranges::all_of(list, is_answer);
}

/// True if a list of 0 and 1 could be numbers of classes, or say of each class whether it is there.
bool is_ambiguous(const Json& list, const LabelledFields& fields) {
  return fields.names.empty() && fields.classes < 3 && list.size() == std::size_t(fields.classes) &&
         std::ranges::all_of(
             list,
             [](const Json& one) { return one.is_number_integer() && (one == 0 || one == 1); });
}

/// 1 for each class that a label has, and 0 for each other.
/// throws    BadRecord if it is no list of classes
std::vector<float> classes_in(const Json& label, const LabelledFields& fields) {
  if (!label.is_array()) throw fields.refusal(label.dump());
  if (is_ambiguous(label, fields))
    throw BadRecord(fmt::format(
        "its label \"{}\" is {}, and of {} numbers look like answers of 0 and 1. Write true or "
        "false for each class, as in {}",
        fields.label, printable(label.dump(), 40),
        fields.classes == 1 ? "one class" : "two classes",
        fields.classes == 1 ? "[true]" : "[true, false]"));
  std::vector<float> numbers(std::size_t(fields.classes), 0.f);
  const bool each = says_each(label, fields);
  for (std::size_t k = 0; k < label.size(); ++k) {
    if (each) {
      numbers[k] = label[k].is_boolean() ? float(label[k].get<bool>()) : label[k].get<float>();
      continue;
    }
    float& number = numbers[std::size_t(class_in(label[k], fields))];
    if (std::exchange(number, 1.f) != 0) throw fields.refusal(label.dump());
  }
  return numbers;
}

/// throws    BadRecord
ExampleTexts labelled_of(const Json& object, const LabelledFields& fields) {
  ExampleTexts record;
  for (const std::string& name : fields.texts) record.turns.push_back(text_in(object, name));
  const Json& label = field(object, fields.label);
  if (fields.kind == LabelKind::numbers) {
    record.numbers = numbers_in(label, fields);
  } else if (fields.kind == LabelKind::several_classes) {
    record.numbers = classes_in(label, fields);
  } else {
    record.label = class_in(label, fields);
  }
  return record;
}

}  // namespace

ExampleFormat lines_format(std::string_view one, std::string_view many, std::string expected,
                           std::function<ExampleTexts(const Json&)> texts_of,
                           std::optional<ExampleFormat> parquet) {
  ExampleFormat format{
      one, many, std::move(expected),
      [texts_of = std::move(texts_of)](std::string_view file, const OnRecord& on_record) {
        read_lines(file, on_record, texts_of);
      }};
  if (parquet) format.parquet = std::make_shared<const ExampleFormat>(*std::move(parquet));
  return format;
}

ExampleFormat dialogue_format() {
  return lines_format("dialogue", "dialogues",
                      "Each line must be an object with \"turns\", a list of [speaker, text].",
                      [](const Json& object) { return ExampleTexts{turns_of(object)}; });
}

ExampleFormat json_lines_format(std::string_view context, std::string_view label) {
  const std::string first(context), second(label);
  const std::string fields =
      first.empty() ? fmt::format("the field \"{}\", a text", second)
                    : fmt::format("the fields \"{}\" and \"{}\", texts", first, second);
  return lines_format("line", "lines", fmt::format("Each line must be an object with {}.", fields),
                      [first, second](const Json& object) -> ExampleTexts {
                        if (first.empty()) return {{text_in(object, second)}, true};
                        return {{text_in(object, first), text_in(object, second)}};
                      });
}

ExampleFormat labelled_lines_format(const LabelledFields& fields) {
  const auto texts_of = [fields = std::make_shared<const LabelledFields>(fields)](
                            const Json& object) { return labelled_of(object, *fields); };
  const std::string texts =
      fields.texts.size() == 1
          ? fmt::format("the field \"{}\", a text", fields.texts[0])
          : fmt::format("the fields \"{}\" and \"{}\", texts", fields.texts[0], fields.texts[1]);
  const std::string members =
      fmt::format("{}, and \"{}\", {}.", texts, fields.label, fields.expected());
  return lines_format("line", "lines", "Each line must be an object with " + members, texts_of,
                      parquet_format({fields.texts, {fields.label}, texts_of}, "row", "rows",
                                     "In Parquet each row must have " + members));
}

}  // namespace sinter::detail
