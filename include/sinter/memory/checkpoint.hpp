#pragma once
#include "../concepts.hpp"
#include "../kinds.hpp"

namespace sinter {

enum CheckpointPolicy : std::uint8_t {
  full,      // of each unit only the inputs are kept; about a third more compute
  selective  // matrix products and attention are kept; what is cheap is computed again
};

constexpr std::string_view name_of(CheckpointPolicy policy) {
  return policy == full ? "full" : "selective";
}

struct CheckpointOptions {
  CheckpointPolicy policy = full;
};

/// A `recompute` before the backward of each unit fills its saved block again. Not of the last one:
/// its backward comes right after its forward.
constexpr Program recompute_units(const Model& model, const Program& program) {
  Program result = room_for(program);
  for (const Instruction& i : program) {
    bool runs_backward = i.kind->phases == calls_of(Phase::backward);
    if (runs_backward && i.what < model.count() - 1 && model.plan(i.what).saved_bytes > 0)
      result.push_back({&recompute, i.what, 1, i.when});
    result.push_back(i);
  }
  return result;
}

/// Gradient checkpointing (Chen et al. 2016; selective: Korthikanti et al. 2022). Bit-identical to
/// keeping everything, dropout included.
template <CheckpointOptions O = {}>
struct Checkpoint {
  using slot = slot::memory;
  using Options = CheckpointOptions;
  static constexpr Options options = O;

  static constexpr bool recomputed_inside(const Layer& layer) {
    return O.policy == selective && layer.cheap;
  }
  static constexpr Program rewrite(const Model& model, const Program& program) {
    if constexpr (O.policy == full) {
      return recompute_units(model, program);
    } else {
      return program;
    }
  }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::CheckpointOptions, policy);
