// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/bounded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {

std::string token_name(const Tokenizer& tokenizer, std::int32_t id) {
  const auto special = std::ranges::find(tokenizer.special, id, &SpecialToken::id);
  const std::string text =
      special == tokenizer.special.end() ? tokenizer.decode(id) : special->name;
  return fmt::format("'{}' (id {})", printable(text, 60), id);
}

Tokenizer bounded_tokenizer(Tokenizer tokenizer, int vocabulary) {
  if (tokenizer.vocabulary <= vocabulary) return tokenizer;
  Tokenizer bounded = tokenizer;
  bounded.encode = [whole = std::move(tokenizer), vocabulary](std::string_view text) {
    std::vector<std::int32_t> ids = whole.encode(text);
    const auto beyond =
        std::ranges::find_if(ids, [&](std::int32_t id) { return id >= vocabulary; });
    if (beyond == ids.end()) return ids;
    throw ArgumentError(fmt::format(
        "Token {} of the text is {}, which the model does not have: the recipe's vocabulary is "
        "{}, and the tokenizer has {} tokens. Use the tokenizer that the recipe was written for, "
        "take that token out of the text, or give its data and its model a vocabulary of {}.",
        beyond - ids.begin() + 1, token_name(whole, *beyond), thousands(vocabulary),
        thousands(whole.vocabulary), whole.vocabulary));
  };
  return bounded;
}

}  // namespace sinter::detail
