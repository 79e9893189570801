// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/reply_form.hpp"

#include <algorithm>

namespace sinter::detail {

ReplyForm reply_form(const Tokenizer& tokenizer, std::vector<std::int32_t> ends, int most) {
  const auto has_text = [tokenizer](std::int32_t token) {
    return (tokenizer.vocabulary == 0 || token < tokenizer.vocabulary) &&
           std::ranges::find(tokenizer.special, token, &SpecialToken::id) ==
               tokenizer.special.end();
  };
  auto text = [tokenizer, has_text](std::span<const std::int32_t> tokens) {
    std::vector<std::int32_t> shown;
    std::ranges::copy_if(tokens, std::back_inserter(shown), has_text);
    return tokenizer.text_of(shown);
  };
  return {.text = std::move(text), .ends = std::move(ends), .most = most};
}

}  // namespace sinter::detail
