// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "sinter/base/fields.hpp"

namespace sinter {

/// How Lora keeps what it does not train.
enum class LoraBase : std::uint8_t {
  full,  ///< as what is trained: master weights, and a copy of them if the precision has one
  bf16,  ///< in bf16 alone, without master weights
  int8   ///< weights of linear layers in blocks of int8, all else in the type that layers read
};

/// The name of a base in `describe` and files.
constexpr std::string_view name_of(LoraBase base) {
  return base == LoraBase::full ? "full" : base == LoraBase::bf16 ? "bf16" : "int8";
}

/// What all adapters of a model have in common. Names and defaults are those of PEFT's LoraConfig.
struct LoraOptions {
  int rank = 8;         ///< rows of A: what an adapter makes of a row are so many numbers
  double alpha = 8;     ///< the adapter's result is multiplied by alpha / rank
  double dropout = 0;   ///< probability of dropping an element of what A reads, in training
  bool rslora = false;  ///< true if the factor is alpha / √rank (Kalajdzievski 2023)
  LoraBase base = LoraBase::full;  ///< how what is not trained is kept
  SINTER_FIELDS((rank).at_least(1), (alpha).above(0), (dropout).at_least(0).below(1), (rslora),
                (base))
};

}  // namespace sinter
