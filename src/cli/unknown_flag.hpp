// SPDX-License-Identifier: Apache-2.0
// What a word means that is written as a flag and is none of the verb's.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "cli/other_words.hpp"

namespace sinter::detail::cli {

/// Words by the flag that they are accepted for: {"--optimizer.lr", {"--lr", "--learning-rate"}}.
using AcceptedWords = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Returns the words of other trainers that a verb accepts: each means one flag that it can set.
AcceptedWords accepted_words(Verb verb, const RecipeView& recipe);

/// Refuses a flag that the verb does not have, with the flag, the slot or the sentence that stands
/// for it here, or with the nearest flag that the verb has.
/// throws    UsageError, always
[[noreturn]] void refuse_flag(const std::string& word, Verb verb, const RecipeView& recipe);

}  // namespace sinter::detail::cli
