// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "data/tokenizer/bpe.hpp"
#include "data/tokenizer/json_fields.hpp"

namespace sinter::detail {

/// Reads normalizer, pre_tokenizer, decoder and post_processor of a tokenizer.json: over what the BPE
/// is, where texts are cut, and what becomes of blanks.
/// throws    TokenizerProblem that names what is not understood
void read_components(const JsonFields& file, bool byte_fallback, BpeParts& parts);

/// A post_processor adds special tokens, which encode() does not give, and so there is nothing to do.
/// throws    TokenizerProblem that names one that is not known to do only that
void check_post_processor(const JsonFields& file);

}  // namespace sinter::detail
