// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/files/load.hpp"
#include "sinter/model/hugging_face.hpp"

namespace sinter::detail {

/// Returns what files of an architecture may have beyond an exact match.
inline LoadRules load_rules(const HuggingFace& names, MissingHead missing) {
  return {names.prefix,
          names.ignored_suffixes,
          {names.aliases.begin(), names.aliases.end()},
          names.heads,
          missing};
}

}  // namespace sinter::detail
