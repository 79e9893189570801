// SPDX-License-Identifier: Apache-2.0
// What describe --world says: a step on so many ranks, forecast.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/arguments.hpp"
#include "cli/matmul_text.hpp"
#include "sinter/world/forecast.hpp"

namespace sinter::detail::cli {

/// A forecast, and what it rests on.
struct WorldForecast {
  int ranks, micro_batches;
  Memory memory{};          // of each rank
  std::int64_t tokens = 0;  // of a step, on all ranks
  Forecast step{};
  DeviceCost device{};  // without --times
  LinkCost link{};
  bool link_latency_measured = false, link_bandwidth_measured = false;
  OffloadCost offload{};  // where the recipe offloads
  bool offload_measured = false;
  double taken = 0, straggler = 1;
  int threads = 0;  // on which it was measured; 0 on a card
};

/// throws    UsageError if a flag asks for what the recipe does not have, or is of --world, which is not given
void require_good_world(const RecipeView& recipe, const Arguments& arguments);
/// requires  --world was given, and is good; the device is open
/// throws    Error if what is to be measured cannot be, or the file of --times is of another recipe
[[nodiscard]] WorldForecast forecast_world(const RecipeView& recipe, const Arguments& arguments,
                                           const MatmulRate& matmul);

std::string world_text(const RecipeView& recipe, const Arguments& arguments,
                       const WorldForecast& world);
nlohmann::ordered_json world_json(const WorldForecast& world);

/// The seconds of each instruction of the program of training, from a profile that train --profile has
/// written: the medians. Those that only speak to other ranks are 0, and so are those that only fetch and store
/// what is offloaded or wait for it, whose times the forecast finds itself.
/// share: Model::share() of the plan that the profile is of; computing: what computing_seconds() says of `plan`.
/// throws    Error if the file cannot be read, is no such profile, or is of another recipe
[[nodiscard]] std::vector<double> profiled_seconds(const std::string& file, const PlanView& plan,
                                                   double share, std::span<const double> computing);

}  // namespace sinter::detail::cli
