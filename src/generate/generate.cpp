// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include "generate/prompts.hpp"
#include "sinter/generate/texts.hpp"

namespace sinter {

GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options, const detail::OnToken& on_token) {
  if (count < 1) {  // nothing to write; what cannot be is refused nevertheless
    detail::check_prompt(trainer.plan(), prompt);
    detail::check_sampling(options, trainer.plan().vocabulary);
    return GenerationEnd::length;
  }
  const GenerationRequest request{.prompt = prompt, .tokens = count, .sampling = options};
  const GenerationHooks hooks{
      .on_token = [&](const WrittenToken& written) { return on_token(written.token); }};
  return generate(trainer, {&request, 1}, hooks, 1).front().front().end;
}

}  // namespace sinter
