// SPDX-License-Identifier: Apache-2.0
#include "model/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::detail::hugging_face {

void ConfigKeys::dropout(double& option, std::initializer_list<std::string_view> keys) {
  const double absent = option;
  if (file_) option = file_->dropout(*keys.begin(), absent);
  for (const std::string_view key : keys) {
    reads_dropout(key, absent, option, *keys.begin());
    writes(key, option);
  }
}

void ConfigKeys::reads_dropout(std::string_view key, double absent, double option,
                               std::string_view first) {
  if (!file_) return;
  if (const double other = file_->dropout(key, absent); other != option)
    file_->note(
        fmt::format("The dropout is {}, that of {}: the model has one for all, and {} is {}.",
                    option, first, key, other));
}

void ConfigKeys::divides(std::string_view heads_key, int heads, std::string_view width_key,
                         int width) {
  if (file_ && width % heads != 0)
    file_->refuse(
        fmt::format("{} is {}, which {}, {}, does not divide", width_key, width, heads_key, heads));
}

namespace {
/// What transformers calls a kind of labels of sequences.
struct ProblemType {
  LabelKind kind;
  std::string_view word;
};
constexpr ProblemType problem_types[]{{LabelKind::one_class, "single_label_classification"},
                                      {LabelKind::several_classes, "multi_label_classification"},
                                      {LabelKind::numbers, "regression"}};
}  // namespace

/// Reads what a classifier of sequences learns. Without the key, transformers takes one label for a
/// regression, and else goes by the labels that it is given.
LabelKind ConfigKeys::problem_type(int labels) {
  const std::string word =
      file_->word("problem_type", labels == 1 ? "regression" : "single_label_classification");
  const auto* found = std::ranges::find(problem_types, word, &ProblemType::word);
  if (found != std::end(problem_types)) return found->kind;
  file_->refuse(
      fmt::format("problem_type is {}; Sinter has regression, single_label_classification and "
                  "multi_label_classification",
                  shown(*file_->find("problem_type"))));
  return LabelKind::one_class;
}

void ConfigKeys::labels(int& labels, LabelKind& kind) {
  const bool of_tokens = kind == LabelKind::class_of_token;
  if (file_) {
    const Config::Json* names = file_->find("id2label");
    if (names && !names->is_object()) {
      file_->refuse(fmt::format("id2label is {}; expected an object of names", shown(*names)));
      names = nullptr;
    }
    const int named = names ? int(names->size()) : 2;
    labels = file_->whole("num_labels", named);
    if (names && labels != named)
      file_->refuse(fmt::format("num_labels is {}, but id2label has {} names", labels, named));
    if (named == 0) labels = 0;
    if (!of_tokens) kind = problem_type(labels);
    if (labels < 1 || (labels < 2 && (of_tokens || kind == LabelKind::one_class)))
      file_->refuse(
          fmt::format("num_labels is {}, of which there is nothing to tell apart; Sinter tells at "
                      "least 2 classes apart",
                      labels));
  }
  write({"num_labels", std::int64_t(labels), true});
  if (!of_tokens)
    writes("problem_type",
           std::string(std::ranges::find(problem_types, kind, &ProblemType::kind)->word));
}

}  // namespace sinter::detail::hugging_face
