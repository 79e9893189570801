// SPDX-License-Identifier: Apache-2.0
// Sentences written as words with a class each: JSON lines, and the columns of CoNLL's files.
#include <fmt/format.h>

#include <charconv>

#include "data/examples/example_formats.hpp"
#include "data/examples/json_records.hpp"
#include "sinter/data/labelled_word_set.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

/// What transformers has for a word without a class.
constexpr std::int32_t ignored = -100;

/// The class that a word's label names.
/// throws    BadRecord if it is none
std::int32_t class_of_word(std::string_view text, const LabelledFields& fields) {
  if (!fields.names.empty()) return fields.class_named(text);
  std::int32_t label = -1;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, label);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  if (is_number && (label == ignored || (label >= 0 && label < fields.classes))) return label;
  throw fields.refusal(text);
}

/// A list under a key of a line.
const Json& list_of(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) throw BadRecord(fmt::format("it has no field \"{}\"", name));
  if (!found->is_array())
    throw BadRecord(
        fmt::format("the field \"{}\" is no list, but {}", name, printable(found->dump(), 40)));
  return *found;
}

ExampleTexts sentence_of(const Json& object, const LabelledFields& fields) {
  const Json& words = list_of(object, fields.texts[0]);
  const Json& labels = list_of(object, fields.label);
  if (words.empty()) throw BadRecord("it has no words");
  if (words.size() != labels.size())
    throw BadRecord(fmt::format("it has {} words, and {} labels", words.size(), labels.size()));
  ExampleTexts sentence;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (!words[w].is_string())
      throw BadRecord(
          fmt::format("word {} is no text, but {}", w + 1, printable(words[w].dump(), 40)));
    sentence.turns.push_back(word_text(words[w].get_ref<const std::string&>(), w == 0));
    const bool is_name = labels[w].is_string();
    if (is_name != !fields.names.empty() && labels[w] != ignored)
      throw fields.refusal(labels[w].dump());
    sentence.classes.push_back(labels[w] == ignored ? ignored
                               : is_name
                                   ? fields.class_named(labels[w].get_ref<const std::string&>())
                                   : class_of_word(labels[w].dump(), fields));
  }
  return sentence;
}

/// A number of a column, from 0.
/// throws    FileError
std::size_t column_number(const std::string& name) {
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  if (parsed.ptr == end && parsed.ec == std::errc() && number >= 1) return number - 1;
  throw FileError(
      fmt::format("The columns of words have numbers from 1, and \"{}\" is none. Name those of the "
                  "recipe's data "
                  "so, as in LabelledWords<\"4\", \"1\", {{.format = WordFormat::columns}}>.",
                  printable(name, 40)));
}

/// The words of a sentence's lines.
ExampleTexts sentence_of(const std::vector<std::string_view>& lines, const LabelledFields& fields,
                         std::size_t word, std::size_t label) {
  ExampleTexts sentence;
  for (std::string_view line : lines) {
    const std::vector<std::string_view> columns = words_in(line);
    if (columns.size() <= std::max(word, label))
      throw BadRecord(fmt::format("its line \"{}\" has {} columns, and number {} is asked for",
                                  printable(line, 40), columns.size(), std::max(word, label) + 1));
    sentence.turns.push_back(word_text(columns[word], sentence.turns.empty()));
    sentence.classes.push_back(class_of_word(columns[label], fields));
  }
  return sentence;
}

/// Goes through sentences, each of which has the number of its first line.
void read_columns(std::string_view file, const OnRecord& on_record,
                  const std::shared_ptr<const LabelledFields>& fields, std::size_t word,
                  std::size_t label) {
  std::vector<std::string_view> lines;
  std::int64_t number = 1, first = 1;
  const auto end_sentence = [&] {
    if (!lines.empty())
      on_record(first,
                [=, lines = std::move(lines)] { return sentence_of(lines, *fields, word, label); });
    lines.clear();
  };
  for (; !file.empty(); ++number) {
    const std::size_t end = file.find('\n');
    const std::string_view line = file.substr(0, end);
    file.remove_prefix(end == file.npos ? file.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == line.npos || line.starts_with("-DOCSTART-")) {
      end_sentence();
      continue;
    }
    if (lines.empty()) first = number;
    lines.push_back(line);
  }
  end_sentence();
}

}  // namespace

ExampleFormat labelled_words_format(const LabelledFields& fields) {
  const auto texts_of = [fields = std::make_shared<const LabelledFields>(fields)](
                            const Json& object) { return sentence_of(object, *fields); };
  const std::string lists =
      fmt::format("\"{}\", a list of words, and \"{}\", a list with {} for each word.",
                  fields.texts[0], fields.label, fields.expected());
  return lines_format("sentence", "sentences", "Each line must be an object with " + lists,
                      texts_of,
                      parquet_format({{fields.texts[0]}, {fields.label}, texts_of}, "sentence",
                                     "sentences", "In Parquet each row must have " + lists));
}

ExampleFormat word_columns_format(const LabelledFields& fields) {
  const std::size_t word = column_number(fields.texts[0]), label = column_number(fields.label);
  return {
      "sentence", "sentences",
      fmt::format("Each line must be a word with columns that blanks separate, of which column "
                  "{} is the word and column {} is {}; a blank line stands behind each sentence.",
                  word + 1, label + 1, fields.expected()),
      [fields = std::make_shared<const LabelledFields>(fields), word, label](
          std::string_view file, const OnRecord& on_record) {
        read_columns(file, on_record, fields, word, label);
      }};
}

}  // namespace sinter::detail
