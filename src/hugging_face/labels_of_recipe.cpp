// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/labels_of_recipe.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace sinter::detail::hugging_face {
namespace {

/// True if the policies of data can list a name, with commas between.
bool can_be_listed(const std::string& name) {
  return !name.empty() && !name.starts_with(' ') && !name.ends_with(' ') &&
         std::ranges::none_of(name, [](char c) { return c == ',' || c == '"' || c == '\\'; });
}

/// The folder's names of classes in their order, and how data may have them; empty if it has none but
/// those that transformers gives.
std::string classes_explanation(const FolderModel& model) {
  constexpr std::size_t most = 20;
  const std::vector<std::string>& names = model.class_names;
  if (model.label_kind == LabelKind::numbers || names.empty() || names[0] == "LABEL_0") return "";
  const std::string count =
      fmt::format(" The folder has names for the classes 0 to {}, ", names.size() - 1);
  if (names.size() > most || !std::ranges::all_of(names, can_be_listed))
    return count + "which are in config.json (id2label): the numbers of your data must be these.";
  return count +
         fmt::format(
             "in this order: {0}. The numbers of your data must be these. If your data have "
             "the names, list them in the same order behind the options of the data, as "
             "in {1}<..., \"{0}\">.",
             fmt::join(names, ", "),
             model.label_kind == LabelKind::class_of_token ? "LabelledWords" : "LabelledText");
}

/// What the label of a text with several classes may look like, and what it says.
std::string several_explanation(const FolderModel& model) {
  if (model.labels == 1) return "[true]}, with true or false for the only class.";
  if (model.labels == 2) return "[true, false]}, with true or false for each class.";
  return fmt::format("[0, {0}]}}, with a list of classes, which are whole numbers from 0 to {0}.",
                     model.labels - 1);
}

}  // namespace

std::string labelled_policies(const FolderModel& model, std::vector<std::string> sizes,
                              std::size_t policy_column) {
  sizes.push_back(fmt::format(".classes = {}", model.labels));
  const bool of_tokens = model.label_kind == LabelKind::class_of_token;
  if (model.label_kind != LabelKind::one_class && !of_tokens)
    sizes.push_back(fmt::format(".label_kind = LabelKind::{}", name_of(model.label_kind)));
  if (model.types) sizes.emplace_back(".types = true");
  if (model.marks != TextMarks::bert)
    sizes.push_back(fmt::format(".marks = TextMarks::{}", name_of(model.marks)));
  if (of_tokens)
    return written({"LabelledWords", {"\"tags\"", "\"tokens\""}, sizes}, policy_column) +
           ",\n             Metrics<TokenAccuracy>";
  if (model.label_kind == LabelKind::several_classes)
    sizes.emplace_back(".format = TextFormat::json_lines");
  std::string text =
      written({"LabelledText", {"\"label\"", "\"sentence\"", "\"\""}, sizes}, policy_column);
  if (model.label_kind == LabelKind::one_class) text += ",\n             Metrics<Accuracy, F1<>>";
  return text;
}

std::string labels_explanation(const FolderModel& model) {
  if (model.label_kind == LabelKind::class_of_token)
    return fmt::format(
               "SENTENCES is files of JSON lines such as {{\"tokens\": [\"Jane\", \"sings\"], "
               "\"tags\": [1, 0]}}, with a whole number from 0 to {} for each word. LINES is a "
               "file "
               "with words on each line, and blanks between.",
               model.labels - 1) +
           classes_explanation(model);
  const std::string pairs =
      " LINES is a file with a text on each line. For pairs of texts, name both: "
      "LabelledText<\"label\", \"premise\", \"hypothesis\", ...>.";
  if (model.label_kind == LabelKind::several_classes)
    return "RECORDS is files of JSON lines such as {\"sentence\": \"Where?\", \"label\": " +
           several_explanation(model) + pairs + classes_explanation(model);
  return fmt::format(
             "TABLE is a TSV whose first line names the columns: `label`, {}, and `sentence`.",
             model.label_kind == LabelKind::one_class
                 ? fmt::format("a whole number from 0 to {}", model.labels - 1)
             : model.labels == 1 ? "a number"
                                 : fmt::format("{} numbers with blanks between", model.labels)) +
         pairs + classes_explanation(model);
}

}  // namespace sinter::detail::hugging_face
