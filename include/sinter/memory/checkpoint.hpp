// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"

namespace sinter {

/// How much backward recomputes (Checkpoint).
enum CheckpointPolicy : std::uint8_t {
  full,      // only the inputs of each unit are kept; about a third more is computed
  selective  // matrix products and attention are kept; only cheap layers are recomputed
};

/// The name of a policy in `describe` and files.
constexpr std::string_view name_of(CheckpointPolicy policy) {
  return policy == full ? "full" : "selective";
}

struct CheckpointOptions {
  CheckpointPolicy policy = full;  ///< what backward recomputes
  /// One in `every` of the units that could be recomputed is; the others keep all that backward
  /// reads. `full` counts units from the last one on, `selective` counts the copies of a repeated
  /// unit.
  int every = 1;
  SINTER_FIELDS((policy), (every).at_least(1))
};

namespace detail {
/// Adds a `recompute`, which refills a unit's saved block, before the backward of one in `every`
/// units. The last unit needs none, as its backward directly follows its forward.
constexpr Program recompute_units(const Model& model, const Program& program, int every) {
  Program rewritten = room_for(program);
  int candidates = 0;
  for (const Instruction& i : program) {
    const bool runs_backward = i.kind->phases == calls_of(Phase::backward);
    if (runs_backward && i.what < model.count() - 1 && model.plan(i.what).saved_bytes > 0 &&
        candidates++ % every == 0)
      rewritten.push_back({&recompute, i.what, 1, i.when});
    rewritten.push_back(i);
  }
  return rewritten;
}

/// The hook keeps_whole() of Checkpoint, which it only has if some copies recompute nothing.
template <bool SomeKept, int Every>
struct KeptCopies {};
template <int Every>
struct KeptCopies<true, Every> {
  static constexpr bool keeps_whole(int copy) { return copy % Every != 0; }
};
}  // namespace detail

/// Gradient checkpointing (Chen et al. 2016; `selective`: Korthikanti et al. 2022): backward
/// recomputes what forward has not kept. Results are bit-identical to KeepAll, dropout included.
template <CheckpointOptions O = {}>
struct Checkpoint : detail::KeptCopies<O.policy == selective && (O.every > 1), O.every> {
  using slot = slot::memory;
  using Options = CheckpointOptions;
  static constexpr Options options = O;
  static constexpr Offer offered = O.policy == full
                                       ? Offer{"Checkpoint<>, recomputing whole units", 20}
                                       : Offer{"Checkpoint<{.policy = selective}>", 2};

  static constexpr bool recomputed_inside(const detail::Layer& layer) {
    return O.policy == selective && layer.cheap;
  }
  static constexpr Program rewrite(const Model& model, const Program& program) {
    if constexpr (O.policy == full) {
      return detail::recompute_units(model, program, O.every);
    } else {
      return program;
    }
  }
};

}  // namespace sinter
