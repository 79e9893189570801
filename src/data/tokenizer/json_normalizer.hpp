// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "data/tokenizer/json_fields.hpp"
#include "data/tokenizer/normalizer.hpp"

namespace sinter::detail {

/// Adds what a component of a tokenizer.json's normalizer does, if it is NFC, NFD, NFKC,
/// NFKD, Lowercase, StripAccents, Replace or BertNormalizer. Returns false if it is none of these.
/// throws    TokenizerProblem
bool read_normalizer(const nlohmann::json& component, const std::string& where,
                     Normalizer& normalizer);

}  // namespace sinter::detail
