// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/metric/metric.hpp"

namespace sinter {

/// BLEU of all replies together (Papineni et al. 2002), from 0 to 100: sacrebleu's corpus_bleu with its
/// defaults, whose signature is case:mixed|eff:no|tok:13a|smooth:exp. Replies of which none has four words
/// give 0.
struct Bleu {
  static constexpr std::string_view name = "bleu";
  static constexpr bool greater_is_better = true;

  static constexpr int sums =
      10;  ///< lengths of replies and references; matches and n-grams for n = 1 … 4
  static void add(const WrittenReply& reply, TextSums& into);
  static double value(const TextSums& all);
};

}  // namespace sinter
