// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace sinter {

/// How texts are made comparable: in small letters, without the words a, an and the, with one blank
/// between words. The ways differ in ASCII punctuation.
enum class Normalisation : std::uint8_t {
  squad,  ///< punctuation is deleted: "It's" becomes "its" (SQuAD's evaluation)
  parlai  ///< punctuation becomes a blank: "It's" becomes "it s" (ParlAI's metrics)
};
/// The name of a normalisation.
constexpr std::string_view name_of(Normalisation normalisation) {
  return normalisation == Normalisation::squad ? "squad" : "parlai";
}

}  // namespace sinter
