// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {

int export_folder(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_flag(a.out.has_value(), "--out DIR", a.verb);
  if (a.weights && a.seed)
    throw UsageError("--weights and --seed exclude each other: a seed is for fresh weights.");
  if (a.average) require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  TrainerCore trainer(std::move(recipe), {a.seed.value_or(0), a.threads, false, {}, a.scratch});
  std::string warning = a.weights ? trainer.load_weights(*a.weights, a.average ? "ema" : "") : "";
  if (!a.quiet) note_lines(warning);
  trainer.export_to(*a.out, a.shard_bytes);
  if (a.json) {
    nlohmann::ordered_json result{{"folder", *a.out}, {"parameters", trainer.plan().parameters}};
    print_result(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!a.quiet) {
    print_result(fmt::format("{} parameters, {}, written to {}\n",
                             thousands(trainer.plan().parameters),
                             a.weights ? "of " + *a.weights : "fresh", *a.out));
  }
  return exit_done;
}

}  // namespace sinter::detail::cli
