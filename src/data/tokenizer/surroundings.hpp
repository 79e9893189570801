// SPDX-License-Identifier: Apache-2.0
// The special tokens that transformers puts around a text, as the files of a tokenizer say.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer/json_fields.hpp"

namespace sinter::detail {

class FolderSettings;
struct DefaultToken;

/// Ids before and behind a text.
struct Surroundings {
  std::vector<std::int32_t> before, behind;
};

/// Those of a tokenizer.json: its post_processor alone decides, whatever tokenizer_config.json says of
/// add_bos_token. Only a TemplateProcessing counts. RobertaProcessing and BertProcessing divide the
/// texts of a pair, which a data policy does by itself.
/// throws    TokenizerProblem that names what is not understood
Surroundings read_post_processor(const JsonFields& file);

/// Those of other files: add_bos_token and add_eos_token of tokenizer_config.json, which are false
/// unless they are there. `id_of` finds a token of the vocabulary.
/// throws    TokenizerProblem if one of them is not in the vocabulary
Surroundings surroundings_of(
    const FolderSettings& settings, std::initializer_list<DefaultToken> defaults,
    const std::function<std::optional<std::int32_t>(const std::string&)>& id_of);

}  // namespace sinter::detail
