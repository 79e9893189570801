// SPDX-License-Identifier: Apache-2.0
// The tokens of examples that stand for no text, and prompts in the form that examples have.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter {

struct PairedForm;

/// Number of ids of examples of bytes: the bytes, and the two marks.
inline constexpr int byte_example_vocabulary = 258;

namespace detail {
struct ExampleLimits;

/// Tokens of examples that stand for no text.
struct ExampleMarks {
  std::int32_t start;  ///< before a label; predicts its first token
  std::int32_t end;    ///< the prediction of a label's last token
  std::int32_t pad;    ///< in rows of padding

  /// Returns a bound above all marks and all tokens of `tokenizer`.
  std::int32_t vocabulary(const Tokenizer& tokenizer) const;
};

/// Returns the marks for examples of a tokenizer, by this rule:
///   start, end  One token is both, the end of a text: the first of <|endoftext|>, <|end_of_text|>,
///               </s>, <eos> and [SEP] that the tokenizer has as a special token. (DialoGPT divides
///               turns like this, and GPT-2 documents.) A tokenizer without special tokens, as that
///               of bytes, gets two tokens beyond its own, as ParlAI's __start__ and __end__.
///   pad         the first of <pad>, [PAD] and <|pad|> that the tokenizer has, else the end; 0 if
///               there are no special tokens.
/// throws    ArgumentError if the tokenizer does not state its vocabulary, or has special tokens,
///           but none of those for an end
ExampleMarks marks_of(const Tokenizer& tokenizer);

/// Loads the tokenizer at `path` (if empty: that of bytes) for a policy with this vocabulary. If it
/// has more tokens, its encode() refuses them, as bounded_tokenizer() does.
/// throws    what load_tokenizer() and require_example_tokenizer() throw
Tokenizer example_tokenizer(const std::filesystem::path& path, int vocabulary);

/// Checks that a tokenizer can make examples of a policy with this vocabulary. It may have more
/// tokens, as long as they do not occur.
/// throws    ArgumentError if a mark is beyond the vocabulary; if it is the tokenizer of bytes, and
///           the vocabulary is another; and what marks_of() throws
void require_example_tokenizer(const Tokenizer& tokenizer, int vocabulary);

/// Checks that these marks of a tokenizer are ids below `vocabulary`.
/// throws    ArgumentError that names the one that is not
void require_marks(const Tokenizer& tokenizer, const ExampleMarks& marks, int vocabulary);

/// Returns the prompt for the reply to the last of these turns, in the form that ExampleSet trains.
/// One turn is a context.
/// throws    what ExampleSet throws
Prompt reply_prompt(const Tokenizer& tokenizer, const ExampleLimits& limits,
                    std::span<const std::string> turns);
/// Returns the prompt for a reply in the form of PairedExamples: its tokens are what the encoder
/// reads.
/// throws    what PairedExamples throws
Prompt paired_prompt(const Tokenizer& tokenizer, const PairedForm& form,
                     std::span<const std::string> turns);
/// Returns the prompt to continue a text that is an example without a context, as in ExampleSet.
/// throws    what marks_of() and the tokenizer throw
Prompt text_prompt(const Tokenizer& tokenizer, std::string_view text);
/// Returns text_prompt() if `alone`, else reply_prompt() with `text` as the context.
/// throws    what they and require_example_tokenizer() throw, for a policy with this vocabulary
Prompt pair_prompt(const Tokenizer& tokenizer, int vocabulary, const ExampleLimits& limits,
                   std::string_view text, bool alone);
/// Splits a text at its line breaks into the turns of a dialogue.
std::vector<std::string> turns_of_lines(std::string_view text);
}  // namespace detail

}  // namespace sinter
