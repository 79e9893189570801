// SPDX-License-Identifier: Apache-2.0
// How far a model in int8 is from the same model with its own weights.
#pragma once
#include <cstdint>
#include <memory>

#include "cli/arguments.hpp"
#include "sinter/data/any_source.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// Means over tokens of a text; p is the plain model's distribution of the next token, q that of
/// int8.
struct QuantizationError {
  std::int64_t tokens = 0;    ///< that were compared
  double loss = 0;            ///< -log p of the text's own token, in nats
  double quantized_loss = 0;  ///< -log q of it
  double divergence = 0;      ///< Kullback and Leibler's, Σ p log(p / q), in nats
  double same_choice = 0;     ///< share of tokens where both think the same token likeliest
};

/// Reads texts with --weights, both in int8 and as they are, up to `most` tokens that are predicted.
/// throws    UsageError if the recipe does not plan int8
QuantizationError quantization_error(const RecipeView& recipe, const Arguments& arguments,
                                     AnySource& data, std::int64_t most);

}  // namespace sinter::detail::cli
