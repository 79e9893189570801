// SPDX-License-Identifier: Apache-2.0
// What the angles of rotary positions need beside their options: numbers that are the same for all
// angles, computed once on the host, for kernels of the CPU and of CUDA.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sinter/kernels/rotary.hpp"

namespace sinter::kernel {

/// Options of angles, with theta as dynamic scaling changes it.
struct RotaryAngles {
  Rotary rotary;
  double ramp_begin = 0, ramp_end = 1;  // numbers of a head where yarn's ramp begins and ends
  double amplitude = 1;                 // that cosines and sines are multiplied by
};

/// Where in a head of `depth` numbers an angle makes so many full turns over the original positions.
inline double number_with_turns(const Rotary& rotary, double turns, int depth) {
  return depth * std::log(rotary.original_positions / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rotary.theta));
}

/// yarn's factor of queries and keys.
inline double attention_factor(const Rotary& rotary) {
  if (rotary.attention_factor > 0) return rotary.attention_factor;
  auto scale = [&](double by) { return 0.1 * by * std::log(rotary.factor) + 1; };
  if (rotary.mscale > 0 && rotary.mscale_all_dim > 0)
    return scale(rotary.mscale) / scale(rotary.mscale_all_dim);
  return scale(1);
}

/// As compute_dynamic_ntk_parameters and compute_yarn_parameters of transformers.
inline RotaryAngles angles_of(const Rotary& rotary, int depth) {
  RotaryAngles angles{rotary};
  if (rotary.scaling == RotaryScaling::dynamic) {
    const double longer = std::max(1., double(rotary.positions) / rotary.original_positions);
    angles.rotary.theta *=
        std::pow(rotary.factor * longer - (rotary.factor - 1), depth / (depth - 2.));
    angles.rotary.scaling = RotaryScaling::none;
  } else if (rotary.scaling == RotaryScaling::yarn) {
    double begin = number_with_turns(rotary, rotary.beta_fast, depth);
    double end = number_with_turns(rotary, rotary.beta_slow, depth);
    if (rotary.truncate) begin = std::floor(begin), end = std::ceil(end);
    begin = std::max(begin, 0.), end = std::min(end, depth - 1.);
    constexpr double least = 0.001;  // of a ramp that would have no length
    angles.ramp_begin = begin;
    angles.ramp_end = begin == end ? end + least : end;
    angles.amplitude = attention_factor(rotary);
  }
  return angles;
}

}  // namespace sinter::kernel
