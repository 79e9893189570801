// SPDX-License-Identifier: Apache-2.0
// Reads the files of tokenizers. What throws here throws TokenizerProblem and JsonError.
#pragma once
#include <filesystem>
#include <string_view>
#include <variant>

#include "data/tokenizer/bpe.hpp"
#include "data/tokenizer/folder_settings.hpp"
#include "data/tokenizer/vocabulary.hpp"
#include "data/tokenizer/wordpiece.hpp"

namespace sinter::detail {

/// Of a vocabulary and merges as GPT-2 has them, by the class of tokenizers that the files beside them
/// name: without these files GPT-2's, in which no text gives <|endoftext|>. `merges_name` names the
/// second in messages.
BpeParts read_gpt2_files(std::string_view vocabulary, std::string_view merges,
                         std::string_view merges_name, const FolderFiles& beside);

/// Of a tokenizer.json.
std::variant<BpeParts, WordPieceParts> read_tokenizer_json(std::string_view text);

/// Of BERT's vocab.txt, with a token on each line. Without a tokenizer_config.json beside it, capitals
/// are told apart if the vocabulary has any.
WordPieceParts read_bert_vocabulary(std::string_view vocabulary, const FolderFiles& beside);

/// Returns the path by which load_tokenizer() reads the vocabulary and merges of a folder as GPT-2's,
/// whatever the files beside them say. Any other path is returned as it is.
std::filesystem::path vocabulary_alone(const std::filesystem::path& path);

/// Fills in the tokens of a byte-level BPE, and those of single bytes.
void set_byte_level(BpeParts& parts, const Vocabulary& vocabulary);

}  // namespace sinter::detail
