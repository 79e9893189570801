// SPDX-License-Identifier: Apache-2.0
// What tests do with trainers, whatever their recipe.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "sinter/base/with_element.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/device.hpp"
#include "support/held_gradients.hpp"

namespace sinter::detail::testing {

using Numbers = std::vector<double>;
using NamedNumbers = std::map<std::string, Numbers>;

/// Makes every parameter normal with this deviation, norms' weights and biases included.
inline void randomise(TrainerCore& trainer, std::uint64_t seed, double deviation = .5) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, deviation);
  for (const Parameter& p : trainer.parameters()) {
    Numbers values(std::size_t(p.size));
    for (double& v : values) v = normal(engine);
    trainer.set_parameter(p.name, values);
  }
}

inline NamedNumbers parameters_of(const TrainerCore& trainer) {
  NamedNumbers result;
  for (const Parameter& p : trainer.parameters()) result[p.name] = trainer.parameter(p.name);
  return result;
}
inline NamedNumbers gradients_of(const TrainerCore& trainer) {
  NamedNumbers result;
  for (const Parameter& p : trainer.parameters()) result[p.name] = trainer.gradient(p.name);
  return result;
}
inline void set_parameters(TrainerCore& trainer, const NamedNumbers& values) {
  for (const auto& [name, numbers] : values) trainer.set_parameter(name, numbers);
}

/// Overwrites with NaN what a step must write before it reads it: activations, workspace,
/// gradients.
inline void poison(TrainerCore& trainer) {
  const OpenMemory open;
  std::span<std::byte> arena = trainer.machine().arena();
  std::fill(arena.begin() + trainer.plan().training.persistent, arena.end(), std::byte(0xff));
  with_element(trainer.plan().model.sizes.element[int(Type::gradient)], [&]<class T>(T) {
    T* gradients = trainer.machine().flat<T>(Space::gradient);
    for (const Parameter& p : trainer.parameters())
      for (const FlatSlice held : held_gradients(trainer.machine(), p))
        std::fill_n(gradients + held.first, held.size, T(NAN));
  });
}

/// Takes a step that must be applied, whatever lies in memory before it.
inline Applied applied(TrainerCore& trainer, const HostBatch& batch) {
  poison(trainer);
  Outcome outcome = trainer.step(batch);
  REQUIRE(std::holds_alternative<Applied>(outcome));
  return std::get<Applied>(outcome);
}

/// The last prediction, as it lies in memory.
/// requires  the recipe computes in double precision (Fp64)
inline Numbers prediction_in_double(TrainerCore& trainer) {
  int rows = 0, columns = 0;
  const OnHost result = trainer.machine().result(0, rows, columns);
  const auto* values = result.as<double>();
  return {values, values + std::int64_t(rows) * columns};
}

inline double norm_of(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum);
}

/// The largest difference, divided by the largest magnitude in `want`.
inline double relative_difference(const Numbers& got, const Numbers& want) {
  REQUIRE(got.size() == want.size());
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    double difference = std::abs(got[k] - want[k]);
    worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
    largest = std::max(largest, std::abs(want[k]));
  }
  return worst == 0 ? 0 : worst / largest;
}
inline double relative_difference(double got, double want) {
  return std::abs(got - want) / std::abs(want);
}

}  // namespace sinter::detail::testing
