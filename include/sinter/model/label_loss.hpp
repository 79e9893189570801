// SPDX-License-Identifier: Apache-2.0
// What models learn of labels, by their options `labels` and `label_kind`.
#pragma once
#include "sinter/base/label_kind.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/binary_cross_entropy.hpp"
#include "sinter/layer/loss.hpp"

namespace sinter::detail {

/// True if labels are told from the first row of each sequence.
constexpr bool reads_first_row(const auto& options) {
  return options.labels > 0 && options.label_kind != LabelKind::class_of_token;
}

/// The input of the labels: an id for each sequence or each token, or `labels` numbers for each
/// sequence, which are 0 or 1 for classes.
template <auto O>
constexpr auto label_targets(auto& g) {
  if constexpr (O.label_kind == LabelKind::class_of_token) {
    return g.targets();
  } else if constexpr (O.label_kind == LabelKind::one_class) {
    return g.targets(pooled(0));
  } else {
    return g.template target_values<O.labels>(pooled(0));
  }
}

/// The loss of what a classifier gives.
template <auto O>
constexpr Value<1> label_loss(auto& g, Value<O.labels> x, auto targets) {
  if constexpr (O.label_kind == LabelKind::numbers) {
    return g("loss", MeanSquaredError<O.labels>{}, x, targets);
  } else if constexpr (O.label_kind == LabelKind::several_classes) {
    return g("loss", BinaryCrossEntropy<O.labels>{}, x, targets);
  } else {
    return g("loss", CrossEntropy<O.labels>{}, x, targets);
  }
}

}  // namespace sinter::detail
