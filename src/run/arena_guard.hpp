// SPDX-License-Identifier: Apache-2.0
// Shows AddressSanitizer the buffers of the arena, which it sees as one allocation. Other builds
// have only empty functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sinter/plan/plan_view.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_GUARDS_ARENA 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_GUARDS_ARENA 1
#endif
#endif
#ifndef SINTER_GUARDS_ARENA
#define SINTER_GUARDS_ARENA 0
#endif

namespace sinter::detail {

/// While an instruction runs, poisons all temporary buffers but those that it touches, and those of
/// transfers, which other threads may fill. So AddressSanitizer reports a layer or an instruction that
/// reads a closed buffer, or one that it does not state to touch. Spaces that live through all steps,
/// and the workspace, are never poisoned.
class ArenaGuard {
#if SINTER_GUARDS_ARENA
 public:
  ArenaGuard() = default;
  /// requires  the program is verified, and the arena as large as the placement's peak
  ArenaGuard(const Model& model, const PlacementView& placement, std::byte* arena);

  /// Lives as long as an instruction runs.
  class [[nodiscard]] Scope {
    const ArenaGuard& guard;

   public:
    Scope(const ArenaGuard& g, int position, int iteration) : guard(g) {
      guard.poison(position, iteration);
    }
    ~Scope() { guard.lift(); }
    Scope(const Scope&) = delete;
  };
  Scope around(int position, int iteration) const { return {*this, position, iteration}; }

 private:
  struct Part {
    std::byte* begin;
    std::int64_t bytes;
  };
  using Parts = std::vector<Part>;
  void poison(int position, int iteration) const;
  void lift() const;
  /// The gaps between some parts. (Poisoning everything and then opening these would fail a thread that
  /// transfers one of them meanwhile.)
  Parts between(Parts parts) const;

  Part all{};                                         // the temporary buffers
  std::vector<std::pair<Parts, Parts>> instructions;  // what each poisons: at first, and again
#else
 public:
  ArenaGuard() = default;
  ArenaGuard(const Model&, const PlacementView&, std::byte*) {}
  struct [[nodiscard]] Scope {
    ~Scope() {}
  };
  Scope around(int, int) const { return {}; }
#endif
};

}  // namespace sinter::detail
