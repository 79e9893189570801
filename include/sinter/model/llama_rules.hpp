// SPDX-License-Identifier: Apache-2.0
// Rules of recipes with Llama.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter::detail::llama {

SINTER_RULE(
    HeadsDivideWidth,
    R::model::options.head_width > 0 ||
        R::model::options.width % (2 * R::model::options.heads) == 0,
    "Llama: width is not an even multiple of heads. Why: each head attends with width / heads "
    "numbers, and positions turn them in pairs. Fix: choose a width that is an even multiple of "
    "heads, such as 64 for each, or say how many numbers a head has, .head_width.");
SINTER_RULE(HeadWidthIsEven, R::model::options.head_width % 2 == 0,
            "Llama: head_width is odd. Why: positions turn the numbers of a head in pairs. Fix: "
            "choose an even number, or 0 for width / heads.");
SINTER_RULE(KvHeadsDivideHeads, R::model::options.heads % R::model::options.key_heads() == 0,
            "Llama: kv_heads does not divide heads. Why: each head of keys and values is shared by "
            "heads / kv_heads heads of queries. Fix: choose a divisor of heads, or 0 for as many.");
SINTER_RULE(ContextWithinPositions, R::data::context <= R::model::options.positions,
            "Llama: the data's context is beyond the model's positions. Why: `positions` is the "
            "longest sequence that the model is said to read, here and in its files. Fix: a larger "
            ".positions in Llama, or a smaller .context in the data.");
SINTER_RULE(
    VocabularyHoldsData, R::data::vocabulary <= R::model::options.vocabulary,
    "Llama: the model's vocabulary is smaller than the data's. Why: the data has ids that the "
    "model has no embedding for. Fix: make .vocabulary at least that of the data (256 for Bytes).");

}  // namespace sinter::detail::llama
