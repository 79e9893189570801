// SPDX-License-Identifier: Apache-2.0
// Makes AddressSanitizer see the buffers of the arena, which is one piece of memory to it. In builds
// without it there is nothing here.
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

/// While an instruction of a program runs, poisons all buffers that come and go but those that it
/// touches, and those of transfers, which threads of their own may fill. So a layer or an
/// instruction that reads a buffer that is closed, or that it does not say to touch, is reported
/// where it does so. What lives through all steps, and the workspace, are never poisoned.
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
  /// What lies between some parts. (To poison everything and to open these again would fail a thread that is
  /// transferring one of them meanwhile.)
  Parts between(Parts parts) const;

  Part all{};                                         // that comes and goes
  std::vector<std::pair<Parts, Parts>> instructions;  // what each leaves alone: at first, and again
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
