// SPDX-License-Identifier: Apache-2.0
#include "cli/text_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "cli/predictor.hpp"
#include "cli/weights_fit.hpp"
#include "sinter/batch/generation.hpp"
#include "sinter/generate/generator.hpp"

namespace sinter::detail::cli {
namespace {

/// Says what memory a generator has.
std::string planned_memory(GeneratorCore& generator) {
  const PlanView& plan = generator.plan();
  const Memory& m = plan.memory;
  const bool is_int8 = std::ranges::any_of(generator.weights().parameters(),
                                           [](const Parameter& p) { return bool(p.int8); });
  return fmt::format(
      "memory: {} of weights{}, {} of caches for {} texts of {} tokens, and {} more.\n",
      bytes_text(m.parameters), is_int8 ? " in int8" : "", bytes_text(m.cache), plan.max_texts,
      plan.context, bytes_text(m.total - m.parameters - m.cache));
}

}  // namespace

bool says_generation(const RecipeView& recipe) {
  return std::ranges::find(recipe.options, slot::generation::name, &Option::slot) !=
         recipe.options.end();
}

std::shared_ptr<RecipeView> generation_of(const RecipeView& recipe, std::optional<bool> quantizes) {
  if (quantizes == true && !recipe.plain_generation)
    refuse_int8(recipe, recipe.generation
                            ? ""
                            : "; this model cannot, as it reads each text anew for each token");
  return quantizes == false && recipe.plain_generation ? recipe.plain_generation()
                                                       : recipe.generation();
}

TextWriter::TextWriter(std::shared_ptr<RecipeView> recipe, const Arguments& a) : arguments_(a) {
  const TrainerSettings settings{0, a.threads, false, {}, a.scratch};
  std::string said;
  if (recipe->generation || a.quantizes == true) {
    generator_ = std::make_unique<GeneratorCore>(generation_of(*recipe, a.quantizes), settings);
    if (a.rows) generator_->limit_rows(*a.rows);
    if (!a.quiet) note_lines(planned_memory(*generator_));  // what is to be taken, before it is
    said = load_weights_of(generator_->weights(), a);
  } else {
    trainer_.emplace(recipe, settings);
    said = load_weights_of(*trainer_, a);
    if (!a.quiet)
      note_lines(fmt::format(
          "each text is read anew for each token ({}){}.\n", recipe->not_continued,
          says_generation(*recipe) ? ", and the recipe's Generation has no effect" : ""));
  }
  if (!a.quiet) note_lines(said);
}

TextWriter::~TextWriter() = default;

const PlanView& TextWriter::plan() const {
  return trainer_ ? trainer_->plan() : generator_->plan();
}

std::vector<std::vector<GeneratedText>> TextWriter::write(
    std::span<const GenerationRequest> requests, const GenerationHooks& hooks) {
  if (trainer_)
    return generate(*trainer_, requests, hooks, arguments_.rows.value_or(rows_without_caches));
  const std::int64_t before = generator_->rereads();
  auto written = generate(*generator_, requests, hooks);
  if (const std::int64_t rereads = generator_->rereads() - before; rereads > 0 && !arguments_.quiet)
    note_lines(
        fmt::format("\n{} a text outgrew the context, and its last {} tokens were read anew.\n",
                    rereads == 1 ? "once" : fmt::format("{} times", rereads), plan().context / 2));
  return written;
}

}  // namespace sinter::detail::cli
