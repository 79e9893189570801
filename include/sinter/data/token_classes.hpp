// SPDX-License-Identifier: Apache-2.0
// Rules for the model of a recipe whose data have a class for each word.
#pragma once
#include <algorithm>

#include "sinter/base/label_kind.hpp"
#include "sinter/policy/policy_facts.hpp"
#include "sinter/policy/rules.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter::detail {

/// True if a recipe's model learns a class of each token, of no fewer classes than its data have,
/// and its other policies leave that as it is. The data policy has the members `classes` and
/// `types`.
template <class R>
constexpr bool learns_token_classes(const Model& model) {
  const auto inputs = model.externals;
  if (inputs.size() != 2 + std::size_t(R::data::types) || !inputs.back().targets) return false;
  if (!std::ranges::all_of(inputs, [](const External& e) { return e.axis == 0 && e.width == 0; }))
    return false;
  if constexpr (requires { LabelKind(R::model::options.label_kind); }) {
    if (R::model::options.label_kind != LabelKind::class_of_token) return false;
  }
  return id_limit(model, int(inputs.size()) - 1) >= R::data::classes && !has_objective<R>() &&
         !pads_sequences<R>();
}

SINTER_MODEL_RULE(
    TokensHaveClasses, learns_token_classes<R>(model),
    "LabelledWords: the model does not learn these classes of tokens. Why: a batch is tokens, with "
    ".types their types, and then a class, or none, for each token; the model has a logit for each "
    "class, no objective chooses others, and nothing pads. Fix: a model such as Bert<{.labels = 3, "
    ".label_kind = LabelKind::class_of_token}> with .pairs = true if the data have .types = true, "
    ".labels that are .classes of the data, and neither an objective nor a batching.");

}  // namespace sinter::detail
