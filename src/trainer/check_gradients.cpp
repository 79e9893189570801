// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/check_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

using Numbers = std::vector<double>;
using NamedNumbers = std::map<std::string, Numbers>;

/// Fills with NaN the memory that a step must write before it reads it.
void poison(TrainerCore& trainer) {
  Machine& machine = trainer.machine();
  const auto fill = [&](std::byte* at, std::int64_t bytes) {
    const OnHost part(machine.stream(), at, bytes, Access::write);
    std::fill_n(part.data(), bytes, std::byte(0xff));
  };
  const ParameterStore& store = machine.parameters();
  const std::int64_t persistent = trainer.plan().training.persistent;
  fill(machine.arena().data() + persistent, std::int64_t(machine.arena().size()) - persistent);
  for (const Parameter& p : trainer.parameters()) {
    if (p.frozen) continue;
    if (!machine.model().splits(Space::gradient)) {
      const ParameterStore::Part gradient = store.part(Space::gradient, p);
      fill(gradient.data, gradient.shape.bytes());
      continue;
    }
    const std::int64_t bytes = machine.model().sizes.of(Type::gradient);
    for (const ParameterStore::Piece& piece : store.pieces(Space::gradient, p))
      fill(machine.flat<std::byte>(Space::gradient) + piece.local * bytes, piece.size * bytes);
  }
}

/// Returns the loss of a step, which must be finite.
double loss_of(TrainerCore& trainer, const HostBatch& batch) {
  poison(trainer);
  const Outcome outcome = trainer.step(batch);
  if (const auto* applied = std::get_if<Applied>(&outcome)) return applied->loss.mean();
  throw Error(
      "gradients cannot be checked, as the loss or a gradient is not finite. Some layer "
      "reads what nobody has written, forgets to put a gradient, or computes NaN or infinity from "
      "this batch.");
}

/// Takes steps with changed parameters.
class Losses {
  const std::shared_ptr<RecipeView> recipe;
  const TrainerSettings settings;
  const HostBatch& batch;
  NamedNumbers start;

 public:
  Losses(const std::shared_ptr<RecipeView>& view, std::uint64_t seed, const HostBatch& given)
      : recipe(view), settings{.seed = seed, .threads = 1}, batch(given) {
    const TrainerCore trainer(recipe, settings);
    std::mt19937_64 engine(seed + 2);
    std::normal_distribution<double> normal(0, 0.5);
    for (const Parameter& p : trainer.parameters()) {
      Numbers values(std::size_t(p.size));
      std::ranges::generate(values, [&] { return normal(engine); });
      start[p.name] = std::move(values);
    }
  }
  /// Returns the loss of a trainer's first step with these parameters.
  double with(TrainerCore& trainer, const NamedNumbers& values) const {
    for (const auto& [name, numbers] : values) trainer.set_parameter(name, numbers);
    return loss_of(trainer, batch);
  }
  double at_start(TrainerCore& trainer) const { return with(trainer, start); }
  double moved(const std::string& name, std::size_t k, double change) const {
    NamedNumbers values = start;
    values[name][k] += change;
    TrainerCore trainer(recipe, settings);
    return with(trainer, values);
  }
};

GradientCheck check(const Losses& losses, const std::string& name, const Numbers& gradient,
                    double h, double rounding) {
  GradientCheck result{.parameter = name, .allowed = rounding};
  for (std::size_t k = 0; k < gradient.size(); ++k) {
    const double near = (losses.moved(name, k, h) - losses.moved(name, k, -h)) / (2 * h);
    const double far = (losses.moved(name, k, 2 * h) - losses.moved(name, k, -2 * h)) / (4 * h);
    const double slope = near + (near - far) / 3;
    double excess = std::abs(slope - gradient[k]) / (rounding + .01 * std::abs(near - far));
    if (!std::isfinite(excess)) excess = std::numeric_limits<double>::infinity();
    result.largest = std::max(result.largest, std::abs(slope));
    if (k > 0 && excess <= result.excess) continue;
    result.element = std::int64_t(k);
    result.slope = slope;
    result.gradient = gradient[k];
    result.excess = excess;
  }
  return result;
}

}  // namespace

bool GradientReport::passed() const {
  return std::ranges::all_of(parameters,
                             [](const GradientCheck& p) { return p.right() && p.checked(); });
}

std::string GradientReport::text() const {
  std::string text;
  for (const GradientCheck& p : parameters) {
    text += p.parameter + ": ";
    if (!p.right()) {
      text +=
          fmt::format("the gradient of element {} is {:.10g}, but the loss has the slope {:.10g}",
                      p.element, p.gradient, p.slope);
    } else if (!p.checked()) {
      text +=
          fmt::format("not checked: no slope is above {:.2g}, and so none stands out from rounding",
                      1000 * p.allowed);
    } else {
      text += "right";
    }
    text += "\n";
  }
  return text;
}

GradientReport check_gradients(const std::shared_ptr<RecipeView>& recipe, const HostBatch& batch,
                               const GradientCheckSettings& settings) {
  const Sizes& sizes = recipe->plan->model.sizes;
  for (Type type : {Type::compute, Type::gradient, Type::master})
    if (sizes.element[int(type)] != Element::f64)
      throw ArgumentError("gradients are checked in double precision alone, and the recipe '" +
                          recipe->name + "' has a narrower one. Add Fp64 to it.");
  const Losses losses(recipe, settings.seed, batch);
  TrainerCore trainer(recipe, {.seed = settings.seed, .threads = 1});
  const double loss = losses.at_start(trainer);
  const double rounding = 50 * std::numeric_limits<double>::epsilon() * std::abs(loss) / settings.h;
  GradientReport report;
  for (const Parameter& p : trainer.parameters())
    if (!p.frozen)
      report.parameters.push_back(
          check(losses, p.name, trainer.gradient(p.name), settings.h, rounding));
  return report;
}

}  // namespace sinter
