// SPDX-License-Identifier: Apache-2.0
// Tables of bench/seeds.cpp that plans alone give: constants of the program, nothing runs.
#pragma once
#include "seeds_table.hpp"

namespace sinter::detail::bench::seeds {

/// Bytes of `part` for each parameter.
template <class R>
constexpr double each(std::int64_t Memory::* part) {
  return double(Plan<R>::memory.*part) / double(Plan<R>::parameters);
}
/// Bytes that last from step to step for each parameter: weights, gradients and state.
template <class R>
constexpr double kept_each() {
  return each<R>(&Memory::parameters) + each<R>(&Memory::weights) + each<R>(&Memory::gradients) +
         each<R>(&Memory::optimizer);
}

/// Bytes of an optimizer for each parameter; the guide's figure is of the state.
template <class Optimizer>
Json state_row(std::string name, double document) {
  using Full = Whole<Optimizer>;
  using Half = Whole<Optimizer, Bf16>;
  return {{"row", "state: " + name},
          {"state", each<Full>(&Memory::optimizer)},
          {"state_half", each<Half>(&Memory::optimizer)},
          {"document_state", document},
          {"all", kept_each<Full>()},
          {"all_half", kept_each<Half>()}};
}
inline Json state_rows() {
  return Json::array({state_row<Plain>("AdamW", 8), state_row<Factored>("Adafactor", 4),
                      state_row<Quantized>("AdamW in 8 bits", 2),
                      state_row<Sgd<{.lr = lr, .momentum = 0.9}>>("SGD with momentum", 4)});
}

/// What a rank keeps for each parameter in half precision with AdamW: 2 bytes for the weights that layers
/// read, 4 for masters, 4 for gradients and 8 of state.
constexpr double zero_formula(int stage, int ranks) {
  const double weights = stage >= 3 ? 0 : 2, gradients = stage >= 2 ? 4.0 / ranks : 4;
  return weights + gradients + 12.0 / ranks;
}
/// The same in DeepSpeed, with gradients in fp16: the paper of ZeRO for stage 1, the functions
/// estimate_zero2 and estimate_zero3_model_states_mem_needs for the others. Stage 3 also holds the
/// largest layer, which is so large a part of all parameters.
constexpr double deepspeed_formula(int stage, int ranks, double largest) {
  if (stage == 1) return 4 + 12.0 / ranks;
  return stage == 2 ? 4 + 16.0 / ranks : 4 * largest + 18.0 / ranks;
}

template <class Parallel>
using OnRanks = bert<context, sequences, 1, Plain, Bf16, Parallel>;

template <int Stage, int Ranks>
Json zero_row() {
  using R = OnRanks<Zero<{.stage = Stage, .ranks = Ranks}>>;
  BertOptions layer = reduced;
  layer.layers = 1;
  BertOptions none = reduced;
  none.layers = 0;
  const double largest = (parameters_of(layer) - parameters_of(none)) / parameters_of(reduced);
  const double formula = zero_formula(Stage, Ranks), kept = kept_each<R>();
  const double ddp = double(Plan<OnRanks<Ddp<{.ranks = Ranks}>>>::memory.total);
  return {{"row", "zero: stage " + std::to_string(Stage) + ", " + std::to_string(Ranks) + " ranks"},
          {"kept", kept},
          {"kept_formula", formula},
          {"formula_off", formula / kept - 1},
          {"deepspeed", deepspeed_formula(Stage, Ranks, largest)},
          {"planned_mib", double(Plan<R>::memory.total) / mebibyte},
          {"memory", double(Plan<R>::memory.total) / ddp}};
}
inline Json zero_rows() {
  return Json::array({zero_row<1, 2>(), zero_row<2, 2>(), zero_row<3, 2>(), zero_row<1, 4>(),
                      zero_row<2, 4>(), zero_row<3, 4>()});
}

inline void print_state(const Json& rows) {
  print_table(rows, {{"state, bytes a parameter", "state", 3},
                     {"in half precision", "state_half", 3},
                     {"the guide", "document_state", 0},
                     {"with weights and gradients", "all", 2},
                     {"in half precision", "all_half", 2}});
}
inline void print_zero(const Json& rows) {
  print_table(rows, {{"kept by a rank, bytes a parameter", "kept", 3},
                     {"formula", "kept_formula", 3},
                     {"off", "formula_off", 4},
                     {"DeepSpeed's", "deepspeed", 3},
                     {"plan of a rank, MiB", "planned_mib", 1},
                     {"of Ddp's", "memory", 2}});
}

}  // namespace sinter::detail::bench::seeds
