// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "data/tokenizer/bpe.hpp"
#include "data/tokenizer/json_fields.hpp"

namespace sinter::detail {

/// Reads normalizer, pre_tokenizer, decoder and post_processor of a tokenizer.json: over what the BPE
/// is, where texts are cut, what becomes of blanks, and what stands around texts.
/// throws    TokenizerProblem that names what is not understood
void read_components(const JsonFields& file, bool byte_fallback, BpeParts& parts);

}  // namespace sinter::detail
