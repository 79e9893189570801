// SPDX-License-Identifier: Apache-2.0
// Rules of recipes whose optimizer is not elementwise. `reason` says why, for programs that list
// which policies do not go together.
#pragma once
#include <string_view>
#include <type_traits>

#include "sinter/policy/concepts.hpp"

namespace sinter {

/// A rule: master weights and gradients are fp32.
struct MastersAreFloat {
  static constexpr std::string_view reason =
      "the optimizer wants master weights and gradients in fp32: its arithmetic is fp32 over whole "
      "matrices or blocks";
  template <class R>
  static constexpr bool holds = std::is_same_v<typename R::precision::master, float> &&
                                std::is_same_v<typename R::precision::gradient, float>;
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "The optimizer of this recipe wants master weights and gradients in fp32, and its "
        "precision has others. Why: its arithmetic is fp32 over whole matrices or "
        "blocks. Fix: use Fp32, Tf32, Bf16 or Fp16 with masters, or AdamW.");
  }
};

/// A rule: clipping does not limit single gradients.
struct NotClippedByValue {
  static constexpr std::string_view reason =
      "the optimizer takes matrices or blocks whole, so how large each gradient was is lost";
  template <class R>
  static constexpr bool holds = !hook::HasLimit<typename R::clipping>;
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "The optimizer of this recipe does not clip by value. Why: it takes a matrix or a "
        "block as a whole, and how large each gradient was is lost in its update. Fix: "
        "use ClipNorm or NoClip.");
  }
};

}  // namespace sinter
