// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <filesystem>
#include <new>

#include "cli/config.hpp"
#include "cli/launched.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/cli/run.hpp"
#include "sinter/kernels/matmul_rate.hpp"

namespace sinter::detail {
namespace cli {
namespace {

void do_without_libtorch() {
  if (kernel::is_linked_with_libtorch())
    throw UsageError(
        "--no-libtorch: this binary is linked with LibTorch, which computes layers of its recipe "
        "(Autograd; describe names them). Leave the flag out.");
  kernel::do_without_libtorch();
}

void refuse_to_pin_libtorch() {
  if (kernel::is_linked_with_libtorch())
    throw UsageError(
        "--pin: this binary is linked with LibTorch, which computes layers of its recipe "
        "(Autograd; describe names them) in threads of its own. Leave the flag out.");
}

void refuse_threads(const Arguments& a) {
  if (row_of(a.verb).on_host || (a.threads == 0 && !a.pin)) return;
  throw UsageError(
      "--threads and --pin: this binary computes on a GPU, not in threads of the processor. Leave "
      "the flag out.");
}

void refuse_scratch() {
  throw UsageError(
      "--scratch is for recipes that offload to disk (Offload), and this one does not. Leave it "
      "out.");
}

int call(std::shared_ptr<RecipeView> recipe, const Arguments& arguments) {
  if (arguments.no_libtorch) do_without_libtorch();
  if (!recipe->on_host) refuse_threads(arguments);
  if (arguments.pin) refuse_to_pin_libtorch();
  const bool offloads_to_disk = recipe->plan->memory.offloaded > 0 && recipe->on_host;
  if (!arguments.scratch.empty() && !offloads_to_disk) refuse_scratch();
  switch (arguments.verb) {
#define SINTER_VERB(verb, name, function, ...) \
  case Verb::verb:                             \
    return function(std::move(recipe), arguments);
    SINTER_VERBS(SINTER_VERB)
#undef SINTER_VERB
  }
  return exit_usage;
}

/// Prints an error. `who` names this rank, if there are several.
int report_error(const std::string& who, const std::string& message, int code) {
  note("error: " + who + message);
  return code;
}

}  // namespace

bool has_data_for(const RecipeView& recipe, Verb verb) {
  const Needs needs = row_of(verb).needs;
  if (needs == Needs::tokenizer) return recipe.data.has_tokenizer || recipe.data.takes_tokenizer;
  return needs == Needs::nothing || recipe.data.opens;
}

void require_data(const RecipeView& recipe, Verb verb) {
  if (has_data_for(recipe, verb)) return;
  if (recipe.data.opens)
    throw Error(
        fmt::format("The recipe {} cannot {}: its data policy has no tokenizer(), which says what "
                    "text its numbers stand for; see sinter/data/data_view.hpp.",
                    recipe.name, name_of(verb)));
  throw Error(
      fmt::format("The recipe {} cannot {} here: its data is no text that a binary could "
                  "read, but comes from a program of your own. Use Trainer<{}> there; see "
                  "docs/tutorial.md.",
                  recipe.name, name_of(verb), recipe.name));
}

void require_tokenizer_is_used(const RecipeView& recipe, const Arguments& a) {
  if (!a.tokenizer || recipe.data.takes_tokenizer) return;
  throw UsageError(
      fmt::format("--tokenizer is nothing to {}: the data of the recipe {} go through no tokenizer "
                  "that could be "
                  "named. Leave it out, or give the recipe data that do, such as Tokens.",
                  name_of(a.verb), recipe.name));
}

void require_special_tokens_are_put(const RecipeView& recipe, const Arguments& a) {
  if (!a.special_tokens || (recipe.data.takes_tokenizer && recipe.data.reads_text)) return;
  throw UsageError(fmt::format(
      "--special-tokens is nothing to {}: the data of the recipe {} are no plain text that goes "
      "through a tokenizer. Leave it out, or give the recipe data that are, such as Tokens.",
      name_of(a.verb), recipe.name));
}

void require_text_is_read(const RecipeView& recipe, const Arguments& a) {
  if (!a.as_text || recipe.data.reads_text) return;
  throw UsageError(fmt::format(
      "--as-text is nothing to {}: the data of the recipe {} are no plain text. Leave it "
      "out, or give the recipe data that are, such as Bytes or Tokens.",
      name_of(a.verb), recipe.name));
}

void skip_generation_if_asked(RecipeView& recipe, const Arguments& a) {
  if (!a.skip_generation) return;
  if (!recipe.writes())
    throw UsageError(fmt::format(
        "--skip-generation is nothing to {}: evaluations of the recipe {} write no replies. Leave "
        "it out, or give the recipe Evaluate<> and metrics of texts.",
        name_of(a.verb), recipe.name));
  recipe.skips_generation = true;
}

void require_flag(bool given, std::string_view flag, Verb verb) {
  if (!given) throw UsageError(fmt::format("{} needs {}.", name_of(verb), flag));
}

}  // namespace cli

int run_recipe(const std::function<std::shared_ptr<RecipeView>()>& recipe, int argc, char** argv) {
  using namespace cli;
  prepare_standard_streams();
  std::string program = argc > 0 ? argv[0] : "trainer", who;
  try {
    std::shared_ptr<RecipeView> view = recipe();
    Parsed parsed = parse(*view, program, {argv + (argc > 0), argv + argc});
    if (parsed.arguments) {
      take_launched_world(*view, *parsed.arguments);
      const World& world = parsed.arguments->world;
      if (world.ranks > 1) who = fmt::format("rank {}: ", world.rank);
      if (!parsed.arguments->quiet) note_lines(parsed.arguments->notes);
      if (parsed.arguments->print_config)
        return is_first(*parsed.arguments) ? print_config(*view, *parsed.arguments) : exit_done;
      return call(std::move(view), *parsed.arguments);
    }
    print_result(parsed.text);
    return exit_done;
  } catch (const UsageError& error) {
    int code = report_error(who, error.what(), exit_usage);
    note(fmt::format("'{} --help' lists the verbs, '{} VERB --help' their flags.", program,
                     program));
    return code;
  } catch (const std::bad_alloc&) {
    return report_error(
        who, "The machine has no more memory to give. Use a smaller micro-batch or fewer ranks.",
        exit_error);
  } catch (const DivergedError& error) {
    return report_error(who, error.what(), exit_diverged);
  } catch (const std::exception& error) {
    return report_error(who, error.what(), exit_error);
  }
}

}  // namespace sinter::detail
