// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/data_view.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct TokensOptions {
  int context = 1024;      ///< tokens of a sequence
  int vocabulary = 50257;  ///< tokens are below it; the default is GPT-2's
  SINTER_FIELDS((context).at_least(1), (vocabulary).at_least(1))
};

namespace detail {
/// Opens a token file (TokenFile), or text that request.tokenizer turns into one. The file is made
/// at the first use, in the folder `tokens` of the cache: $SINTER_CACHE, else sinter in
/// $XDG_CACHE_HOME, else ~/.cache/sinter. Each text file begins and ends with the special tokens
/// that the tokenizer's files put around a text, unless request.special_tokens is false. The tokens
/// are cut into windows of `context`, and the last ones are held out.
/// throws    FileError and ArgumentError, as make_token_file(), load_tokenizer(), TokenFile and the
///           windows of data/windows.hpp do; also for text without a tokenizer, a token file among
///           other paths, or a token that occurs and is not below `vocabulary`; FileError for an
///           archive, a table or NUL bytes, unless request.as_text
OpenedData open_tokens(const DataRequest& request, TokensOptions options);
}  // namespace detail

/// Text as the tokens of a tokenizer that is named when the program runs: train --tokenizer PATH.
/// Text larger than the memory is read as well.
template <TokensOptions O = {}>
struct Tokens {
  using slot = slot::data;
  using model_rules = detail::NextTokenRules;
  using Options = TokensOptions;
  static constexpr Options options = O;
  static constexpr int context = O.context, vocabulary = O.vocabulary;

  static constexpr DataUnit unit = token_unit;
  static constexpr bool takes_tokenizer = true;
  static constexpr bool reads_text = true;
  static constexpr std::string_view paths_help =
      "Files and folders of text for --tokenizer, one after the other,\n"
      "or one token file, which tokenize --out has made.\n"
      "A folder stands for all files below it, sorted by path.";
  static OpenedData open(const DataRequest& request) { return detail::open_tokens(request, O); }
};

}  // namespace sinter
