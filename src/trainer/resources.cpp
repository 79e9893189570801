// SPDX-License-Identifier: Apache-2.0
#include "trainer/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "hardware/processors.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"
#include "sinter/recipe/savings.hpp"

namespace sinter::detail {
namespace {

std::string gibibytes(std::int64_t bytes) {
  return fmt::format("{:.1f} GiB", double(bytes) / (1 << 30));
}

/// Returns a sentence on the cheapest change that makes a plan fit into `bytes`.
std::string way_to_fit(const RecipeView& recipe, std::int64_t bytes) {
  std::vector<Saving> list = savings(*recipe.plan, recipe.alternatives());
  std::erase_if(list, [&](const Saving& s) { return s.cost == 0 || s.total > bytes; });
  const auto cheapest = std::ranges::min_element(list, {}, &Saving::cost);
  if (cheapest == list.end())
    return "Use a smaller model, micro-batch or context, or a machine with more; `describe` says "
           "what the memory is for.";
  return fmt::format(
      "It would fit with this change to the recipe: {} ({}); `describe` lists others.",
      cheapest->technique, gibibytes(cheapest->total));
}

}  // namespace

int threads_of(const TrainerSettings& settings, int processes) {
  constexpr int each = 16;
  const int processors = std::max(1, int(std::thread::hardware_concurrency()));
  if (settings.threads < 0)
    throw ArgumentError(
        fmt::format("{} threads were asked for; use 0 for all processors, or a positive number.",
                    settings.threads));
  if (settings.threads > each * processors)
    throw ArgumentError(fmt::format(
        "{} threads were asked for, and there are {} processors here. More than one thread for "
        "each only waits; at most {} are started.",
        settings.threads, processors, each * processors));
  return settings.threads == 0 ? std::max(1, usable_processors() / processes) : settings.threads;
}

kernel::MatmulWorkspace matmul_workspace_of(const PlanView& plan) {
  kernel::MatmulLibrary library{};
  with_element(plan.model.sizes.element[int(Type::compute)],
               [&]<class T>(T) { library = kernel::matmul_library<T>(plan.matmul_inputs); });
  return kernel::matmul_workspace(library);
}

void require_memory(const RecipeView& recipe, AvailableMemory available, const Need& need) {
  const int ranks = need.ranks;
  const std::int64_t others = need.beside + need.replies;
  if (need.each - need.taken <= (available.bytes - others) / ranks) return;
  available.bytes += ranks * need.taken;
  std::string text = need.what;
  if (ranks > 1) text += fmt::format("{} times ", ranks);
  text += fmt::format("{} of memory, and {} {}. ", gibibytes(need.each), available.bound,
                      gibibytes(available.bytes));
  if (need.beside > 0)
    text += fmt::format(
        "LibTorch's products take up to {} MiB of that (none with --no-libtorch, or "
        "kernel::do_without_libtorch()). ",
        need.beside >> 20);
  if (need.replies > 0)
    text += fmt::format(
        "Another {} are for replies that evaluations write (none with --skip-generation; less with "
        "fewer rows, as in Evaluate<{{.rows = 4}}>). ",
        gibibytes(need.replies));
  throw Error(text + way_to_fit(recipe, (available.bytes - others) / ranks));
}

}  // namespace sinter::detail
