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

void ConfigKeys::classes(int& labels) {
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
    if (std::min(labels, named) < 2)
      file_->refuse(
          fmt::format("num_labels is {}, by which transformers means a regression; Sinter tells at "
                      "least 2 classes apart",
                      std::min(labels, named)));
  }
  write({"num_labels", std::int64_t(labels), true});
  only_now("problem_type", std::string("single_label_classification"));
}

}  // namespace sinter::detail::hugging_face
