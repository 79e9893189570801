// SPDX-License-Identifier: Apache-2.0
// Small Bert, DistilBert and Roberta, those of tests/data/bert.txt, which scripts/bert_reference.py has
// written, and what their tests share.
#pragma once
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/error.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/references.hpp"

namespace sinter::detail::testing {

inline constexpr int small_words = 19, small_positions = 8, small_labels = 3;
inline const std::vector<int> small_lengths{7, 3, 8, 1, 5};

/// Options of such a model.
template <class Options>
constexpr Options small_encoder(int layers = 2, double dropout = 0) {
  Options o{.layers = layers, .heads = 2, .width = 16, .hidden = 24};
  o.vocabulary = small_words;
  o.positions = small_positions;
  o.dropout = dropout;
  if constexpr (requires { o.classifier_dropout; }) o.classifier_dropout = dropout;
  return o;
}

/// The recipe of all references.
template <class Model, class Data = UpTo<small_positions, small_words>>
using Small = Made<Model, Data, Batch<{.global = 6, .micro = 2}>,
                   AdamW<{.lr = 1e-3, .beta1 = .9, .beta2 = .95, .eps = 1e-8, .weight_decay = .1}>,
                   ClipNorm<{.max = 1}>>;

/// The batch of a reference, with a target for each row or each sequence, and types or none. Its
/// ids begin at `first`.
inline HostBatch small_batch(bool masked, bool pairs = false, int first = 1) {
  HostBatch batch = sequences_of(small_lengths);
  std::vector<std::int32_t> ids, types, targets;
  for (int s = 0; s < int(small_lengths.size()); ++s) {
    const int n = small_lengths[std::size_t(s)];
    for (int row = 0; row < n; ++row) {
      ids.push_back(first + (row * 7 + s * 5 + 3) % (small_words - first));
      types.push_back(row >= n / 2);
      if (masked) targets.push_back(row % 3 == 1 || n == 1 ? (row * 3 + s) % small_words : -1);
    }
    if (!masked) targets.push_back(s % small_labels);
  }
  batch.ids.push_back(ids);
  if (pairs) batch.ids.push_back(types);
  batch.ids.push_back(targets);
  return batch;
}

/// Starts a classifier from a body that has learned hidden tokens, with a fresh head. Returns what
/// that says. `weight`: a parameter of the head.
template <class Hidden, class Classes>
std::string train_head_of(const std::string& weight) {
  TemporaryFolder folder;
  Trainer<Small<Hidden>> hidden({.seed = 1, .threads = 1});
  hidden.export_to(folder / "hidden");
  Trainer<Small<Classes>> classes({.seed = 2, .threads = 1});
  const auto fresh = parameters_of(classes);
  CHECK_THROWS_WITH_AS(classes.load_weights(folder / "hidden"), doctest::Contains(weight.c_str()),
                       FileError);
  CHECK(parameters_of(classes) == fresh);
  std::string told = classes.load_weights(folder / "hidden", "", MissingHead::starts_fresh);
  CAPTURE(told);
  CHECK(told.find("the weights have no such head: ") == 0);
  CHECK(told.find(weight) < told.find("\nof another head, and left out: "));
  const auto body = parameters_of(hidden), now = parameters_of(classes);
  int shared = 0;
  for (const auto& [name, values] : now) {
    CAPTURE(name);
    CHECK(values == (body.contains(name) ? body.at(name) : fresh.at(name)));
    shared += body.contains(name);
  }
  CHECK(shared > 30);
  CHECK(told.find("layer.0.") == std::string::npos);
  return told;
}

}  // namespace sinter::detail::testing
