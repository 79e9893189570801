// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"

namespace sinter::cli {

int generate(RecipeView recipe, const Arguments& a) {
  require_data(recipe, a.verb);
  require_tokenizer_is_used(recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  SamplingOptions sampling{a.temperature, a.top_k, a.seed.value_or(0)};
  const Tokenizer tokenizer = tokenizer_for(recipe, a);
  const std::vector<std::int32_t> prompt = tokenizer.encode(a.prompt.empty() ? "\n" : a.prompt);
  TrainerCore trainer(std::move(recipe), {0, a.threads});
  std::string warning = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  if (!a.quiet) note_lines(warning);

  std::string text;
  if (!a.json) print_result(a.prompt);
  sinter::generate(trainer, prompt, a.tokens, sampling, [&](std::int32_t token) {
    const std::string piece = tokenizer.decode(token);
    text += piece;
    if (!a.json) print_result(piece);
  });
  if (a.json) {
    nlohmann::ordered_json result{{"prompt", a.prompt},
                                  {"text", text},
                                  {"tokens", a.tokens},
                                  {"seed", sampling.seed},
                                  {"temperature", sampling.temperature},
                                  {"top_k", sampling.top_k}};
    print_result(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!text.ends_with('\n')) {
    print_result("\n");
  }
  return exit_done;
}

}  // namespace sinter::cli
