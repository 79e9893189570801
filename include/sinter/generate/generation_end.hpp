// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sinter {

/// Why a text that is generated ended.
enum class GenerationEnd {
  length,       ///< all tokens are written, or the decoder has no room for more
  end_of_text,  ///< the model drew a token that ends the text
  cancelled,    ///< a function of the caller said so
  stopped       ///< GenerationRequest::stop said so
};

}  // namespace sinter
