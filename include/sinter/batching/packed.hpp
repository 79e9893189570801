// SPDX-License-Identifier: Apache-2.0
// The slot `batching`: how examples of different lengths become batches.
#pragma once
#include "sinter/data/batching.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of policies that make batches of examples: Packed, Padded, LengthGrouped, DynamicBatch.
struct batching {
  static constexpr std::string_view name = "batching";
  static constexpr bool decisive = false;
};
}  // namespace slot

namespace detail {
SINTER_RULE(
    DataHaveExamples, hook::has_examples<typename R::data>,
    "Batching: these data have no examples to put into batches. Why: a policy of the slot batching "
    "acts on examples of different lengths alone, and would do nothing here. Fix: leave it out, or "
    "train on data with examples, such as Dialogue.");
}  // namespace detail

/// Concatenates examples without padding; attention and positions restart with each example. This
/// is the default. Every computed row belongs to an example (as in Krell et al. 2021, "Efficient
/// Sequence Packing without Cross-contamination", but any number of examples may share a row of the
/// batch).
struct Packed {
  using slot = slot::batching;
  using rules = RuleList<detail::DataHaveExamples>;
  /// Returns the batching for global batches of at most `sequences` sequences.
  static Batching batching(int /*sequences*/) { return {}; }
};

}  // namespace sinter
