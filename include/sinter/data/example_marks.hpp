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

struct ExampleLimits;
struct PairedForm;

/// Tokens of examples that stand for no text.
struct ExampleMarks {
  std::int32_t start;  ///< stands before a label, and predicts its first token
  std::int32_t end;    ///< is what a label's last token predicts
  std::int32_t pad;    ///< stands in rows of padding

  /// All of them, and the tokens of `tokenizer`, are below it.
  std::int32_t vocabulary(const Tokenizer& tokenizer) const;
};

/// The marks for examples of a tokenizer. The rule:
///   start, end  One token is both, the end of a text: the first of <|endoftext|>, <|end_of_text|>,
///               </s>, <eos> and [SEP] that the tokenizer has as a special token. (So DialoGPT
///               divides turns; GPT-2, documents.) A tokenizer without any special tokens, as that
///               of bytes, gets two tokens beyond its own, as ParlAI's __start__ and __end__.
///   pad         the first of <pad>, [PAD] and <|pad|> that the tokenizer has, else the end; 0 where
///               there are no special tokens.
/// throws    ArgumentError if the tokenizer does not say its vocabulary, or has special tokens, but
///           none of those for an end
ExampleMarks marks_of(const Tokenizer& tokenizer);

/// Ids of examples of bytes: the bytes, and the two marks.
inline constexpr int byte_example_vocabulary = 258;

/// The tokenizer at `path`, for examples of a policy with such a vocabulary; that of bytes if `path`
/// is empty.
/// throws    what load_tokenizer() and require_example_tokenizer() throw
Tokenizer example_tokenizer(const std::filesystem::path& path, int vocabulary);

/// Checks that examples of a policy with such a vocabulary can be made by a tokenizer.
/// throws    ArgumentError if it has more tokens, its marks included; if it is that of bytes, and
///           the vocabulary is not theirs; and what marks_of() throws
void require_example_tokenizer(const Tokenizer& tokenizer, int vocabulary);

/// The prompt that asks for the reply to the last of these turns, as ExampleSet shows them to a model
/// that learns the next. A context is one turn.
/// throws    what ExampleSet throws
Prompt reply_prompt(const Tokenizer& tokenizer, const ExampleLimits& limits,
                    std::span<const std::string> turns);
/// The same as PairedExamples shows it: the tokens are what the encoder reads.
/// throws    what PairedExamples throws
Prompt paired_prompt(const Tokenizer& tokenizer, const PairedForm& form,
                     std::span<const std::string> turns);
/// The prompt that asks how a text goes on which is an example alone, as ExampleSet shows it.
/// throws    what marks_of() and the tokenizer throw
Prompt text_prompt(const Tokenizer& tokenizer, std::string_view text);
/// One of both, of a policy with such a vocabulary: a text is a context, or begins a text alone.
/// throws    what they and require_example_tokenizer() throw
Prompt pair_prompt(const Tokenizer& tokenizer, int vocabulary, const ExampleLimits& limits,
                   std::string_view text, bool alone);
/// A text cut at its line breaks: what it says of a dialogue, a turn a line.
std::vector<std::string> turns_of_lines(std::string_view text);

}  // namespace sinter
