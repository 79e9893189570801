// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"
#include "sinter/metric/text_sums.hpp"

namespace sinter {

/// The mean number of tokens of a reply, with the one that ended it. (ParlAI's gen_n_toks counts the token
/// before the reply, too.)
struct GeneratedLength {
  static constexpr std::string_view name = "generated_length";
  static constexpr bool greater_is_better =
      true;  ///< so that it can be followed; longer is not better

  static constexpr int sums = 2;  ///< tokens and replies
  static void add(const WrittenReply& reply, TextSums& into) {
    into.sums[0] += double(reply.tokens);
    ++into.sums[1];
  }
  static double value(const TextSums& all) { return all.sums[0] / all.sums[1]; }
};

}  // namespace sinter
