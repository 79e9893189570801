// SPDX-License-Identifier: Apache-2.0
// The words of a text, as metrics of texts compare them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/metric/normalisation.hpp"

namespace sinter::detail {

/// Splits a text at white space, as Python's split() does.
std::vector<std::string> words_at_space(std::string_view text);
/// The words of a text that is normalised.
std::vector<std::string> normalised_words(std::string_view text, Normalisation normalisation);
/// The words of sacrebleu's tokenizer 13a (mteval-v13a).
std::vector<std::string> words_of_13a(std::string_view text);
/// The words of rouge_score without a stemmer: runs of a-z and 0-9, in small letters.
std::vector<std::string> words_of_rouge(std::string_view text);

/// Joins `count` words, with a line break between two.
std::string joined(std::span<const std::string> words, std::size_t first, std::size_t count);

}  // namespace sinter::detail
