// SPDX-License-Identifier: Apache-2.0
#include "cli/length.hpp"

#include <fmt/format.h>

#include "cli/verbs.hpp"
#include "trainer/loop_state.hpp"
#include "trainer/run_length.hpp"

namespace sinter::detail::cli {
namespace {

/// The state of the data in a checkpoint.
SamplerState data_of(const CheckpointReader& from) try {
  return loop_state_of(from.info()).data;
} catch (const Error& error) {
  throw FileError(fmt::format("Cannot resume from {}: {}.", from.folder().string(), error.what()));
}

/// Counts the batches from where the run stands to the end of the data.
std::int64_t batches_left(AnySource& training, const CheckpointReader* resumed) {
  if (!resumed) return training.batches_left();
  SamplerState before = data_of(*resumed);
  if (before.items == 0 && resumed->step() > 0)
    throw ArgumentError(
        "the checkpoint is of a version that did not count examples. Give --steps.");
  const SamplerState fresh = training.state();
  if (before.items > fresh.end)
    throw ArgumentError(fmt::format(
        "the run has trained on {} already, and would end after {}. Give a larger number.",
        before.items, fresh.end));
  before.end = fresh.end;
  training.restore(before);
  const std::int64_t left = training.batches_left();
  training.restore(fresh);
  return left;
}

}  // namespace

void require_one_length(const Arguments& a) {
  std::string given;
  for (const auto& [flag, number] :
       {std::pair{"--steps", a.steps}, {"--epochs", a.epochs}, {"--examples", a.examples}}) {
    if (!number) continue;
    if (!given.empty())
      throw UsageError(fmt::format(
          "{} and {} exclude each other: each says how long the run is. Give one.", given, flag));
    given = flag;
  }
}

std::int64_t last_step(const RecipeView& recipe, const Arguments& a) {
  if (const auto steps = a.steps ? a.steps : usual_run_length(recipe, recipe.run_steps))
    return *steps;
  throw UsageError("train needs --steps N: this recipe's schedule has no horizon to stop at.");
}

LengthByData length_by_data(AnySource& training, const Arguments& a,
                            const CheckpointReader* resumed) {
  const std::string given = a.epochs ? fmt::format("--epochs {}", *a.epochs)
                                     : fmt::format("--examples {}", a.examples.value_or(0));
  try {
    const std::string epoch = training.end_at({.epochs = std::uint64_t(a.epochs.value_or(0)),
                                               .items = std::uint64_t(a.examples.value_or(0))});
    const std::int64_t steps = (resumed ? resumed->step() : 0) + batches_left(training, resumed);
    return {steps, fmt::format("{} ends the run after step {}{}{}", given, steps,
                               epoch.empty() ? "" : "; ", epoch)};
  } catch (const ArgumentError& error) {
    throw Error(fmt::format("{}: {}", given, error.what()));
  }
}

void keep_end(AnySource& training, const CheckpointReader* resumed) {
  if (!resumed) return;
  if (const std::uint64_t end = data_of(*resumed).end; end > 0) training.end_at({.items = end});
}

}  // namespace sinter::detail::cli
