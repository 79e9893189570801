// SPDX-License-Identifier: Apache-2.0
// How examples of different lengths become batches: the slot `batching`.
#pragma once
#include "sinter/data/batching.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// How examples become batches (Packed, Padded, LengthGrouped, DynamicBatch).
struct batching {
  static constexpr std::string_view name = "batching";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// A rule: the data are examples.
struct DataHaveExamples {
  template <class R>
  static constexpr bool holds = requires { requires R::data::has_examples; };
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Batching: these data have no examples to put into batches. Why: a policy of the "
                  "slot batching acts on examples of different lengths alone, and would do nothing "
                  "here. Fix: leave it out, or train on data with examples, such as Dialogue.");
  }
};

/// Rows of examples stand one behind the other, without padding, and attention and positions begin
/// anew with each example. This is the default. All rows that are computed are those of examples
/// (as in Krell et al. 2021, "Efficient Sequence Packing without Cross-contamination", with no
/// limit on how many share a row of the batch).
struct Packed {
  using slot = slot::batching;
  using rules = RuleList<DataHaveExamples>;
  /// Says it for global batches of at most so many sequences.
  static Batching batching(int /*sequences*/) { return {}; }
};

}  // namespace sinter
