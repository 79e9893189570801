// SPDX-License-Identifier: Apache-2.0
// The weights of a verb that generates, and how they read texts.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {
class GeneratorCore;
}

namespace sinter::detail::cli {

/// Texts that are written at once where each is read anew for each token.
inline constexpr int rows_without_caches = 8;

/// True if the recipe says by Generation how texts are continued.
bool says_generation(const RecipeView& recipe);

/// The view of a recipe that continues texts; `quantizes` as --quantize says, or else as the recipe does.
/// requires  the recipe has one, or quantizes is true
/// throws    UsageError if int8 is asked for, and the recipe does not plan it
std::shared_ptr<RecipeView> generation_of(const RecipeView& recipe, std::optional<bool> quantizes);

/// Writes texts with the weights that --weights names: with key-value caches, or, where a layer of the
/// recipe's model does not say how, by reading each text anew for each token. On standard error it says
/// which, and what memory is planned.
class TextWriter {
 public:
  /// throws    what the trainer's constructor and load_weights() throw
  TextWriter(std::shared_ptr<RecipeView> recipe, const Arguments& arguments);
  ~TextWriter();

  const PlanView& plan() const;
  /// Writes texts behind prompts, of which at most --rows share a batch.
  std::vector<std::vector<GeneratedText>> write(std::span<const GenerationRequest> requests,
                                                const GenerationHooks& hooks = {});

 private:
  const Arguments& arguments_;
  std::optional<TrainerCore> trainer_;
  std::unique_ptr<GeneratorCore> generator_;
};

}  // namespace sinter::detail::cli
