// SPDX-License-Identifier: Apache-2.0
// The forecast of describe --world: a step on a number of ranks.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/arguments.hpp"
#include "cli/matmul_text.hpp"
#include "sinter/forecast/forecast.hpp"

namespace sinter::detail::cli {

/// A forecast, and the facts behind it.
struct WorldForecast {
  int ranks, micro_batches;
  Memory memory{};          // each rank's
  std::int64_t tokens = 0;  // per step, on all ranks
  Forecast step{};
  DeviceCost device{};  // without --times
  LinkCost link{};
  bool link_latency_measured = false, link_bandwidth_measured = false;
  OffloadCost offload{};  // if the recipe offloads
  bool offload_measured = false;
  double taken = 0, straggler = 1;
  int threads = 0;  // threads of the measurement; 0 on a card
};

/// Checks the flags of --world.
/// throws    UsageError if a flag does not fit the recipe, or --world is not given
void require_good_world(const RecipeView& recipe, const Arguments& arguments);
/// Forecasts a step.
/// requires  --world was given, and is good; the device is open
/// throws    Error if a measurement fails, or the file of --times is of another recipe
[[nodiscard]] WorldForecast forecast_world(const RecipeView& recipe, const Arguments& arguments,
                                           const MatmulRate& matmul);

std::string world_text(const RecipeView& recipe, const Arguments& arguments,
                       const WorldForecast& world);
nlohmann::ordered_json world_json(const RecipeView& recipe, const Arguments& arguments,
                                  const WorldForecast& world);

/// Reads the seconds of each instruction of the training program from a profile of train --profile:
/// the medians. Instructions that only communicate, or move offloaded state, or wait for it, get 0,
/// as the forecast computes their times.
///   share      Model::share() of the profile's plan
///   computing  computing_seconds() of `plan`
/// throws    Error if the file cannot be read, is not such a profile, or is of another recipe
[[nodiscard]] std::vector<double> profiled_seconds(const std::string& file, const PlanView& plan,
                                                   double share, std::span<const double> computing);

}  // namespace sinter::detail::cli
