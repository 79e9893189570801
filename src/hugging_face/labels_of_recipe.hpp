// SPDX-License-Identifier: Apache-2.0
// The data of a recipe that is written for a model of labels.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "hugging_face/architectures.hpp"

namespace sinter::detail::hugging_face {

/// C++ of the data of a model that learns labels, with metrics where there are such. `sizes` are options; a
/// policy begins at `policy_column`.
std::string labelled_policies(const FolderModel& model, std::vector<std::string> sizes,
                              std::size_t policy_column);

/// What such data look like, in words.
std::string labels_explanation(const FolderModel& model);

}  // namespace sinter::detail::hugging_face
