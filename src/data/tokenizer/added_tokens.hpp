// SPDX-License-Identifier: Apache-2.0
// Tokens that are found in a text before it is cut into pieces, such as <|endoftext|>.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/normalizer.hpp"

namespace sinter::detail {

struct AddedToken {
  std::int32_t id = 0;
  std::string text;
  bool strips_left = false, strips_right = false;  // white space beside it belongs to it
  bool normalized = false;                         // is looked for in the normalised text
  bool single_word = false;                        // is none beside a part of a word
};

/// Finds added tokens: of those that begin at a place, the longest; of others, the leftmost. One that
/// must be a single word and is none is text, with all that stands in it.
class AddedTokens {
  std::vector<AddedToken> tokens;  // those of the same first byte together, the longest first
  std::array<std::pair<std::uint32_t, std::uint32_t>, 256> with_first{};  // indices begin … end - 1
  int only_first = -1;  // the first byte, if all tokens have the same

  struct Found {
    std::size_t begin, end;  // with the white space that belongs to it
    const AddedToken* token;
  };
  const AddedToken* beginning(std::string_view text) const;
  std::optional<Found> find(std::string_view text, std::size_t from) const;

 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> all);

  /// Calls text(part) and token(id) for what a text consists of, in order; no part is empty.
  template <class Text, class Token>
  void cut(std::string_view whole, Text&& text, Token&& token) const {
    std::size_t done = 0;
    while (std::optional<Found> found = find(whole, done)) {
      if (found->begin > done) text(whole.substr(done, found->begin - done));
      token(found->token->id);
      done = found->end;
    }
    if (done < whole.size()) text(whole.substr(done));
  }
};

/// Those of the tokens that are looked for in the normalised text, or those that are not.
std::vector<AddedToken> those(const std::vector<AddedToken>& all, bool normalized);

/// Tokens with their texts normalised.
/// throws    TokenizerProblem if nothing is left of one
std::vector<AddedToken> with_normal_texts(std::vector<AddedToken> tokens,
                                          const Normalizer& normalizer);

}  // namespace sinter::detail
