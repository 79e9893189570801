// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generate.hpp"

#include <algorithm>

#include "generate/prompts.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter {
using namespace detail;
GenerationEnd generate(TrainerCore& trainer, const Prompt& prompt, std::int64_t count,
                       const SamplingOptions& options, const OnToken& on_token) {
  const PlanView& plan = trainer.plan();
  check_prompt(plan, prompt);
  const bool decodes = is_encoder_decoder(plan.predicting);
  std::vector<std::int32_t> text = decodes ? prompt.decoder : prompt.tokens;
  HostBatch batch;
  if (decodes) {
    batch.ids.push_back(prompt.tokens);
    batch.second_starts = {0, std::int32_t(prompt.tokens.size())};
  }
  std::vector<std::int32_t>& seen = batch.ids.emplace_back();
  check_sampling(options, plan.vocabulary);
  const std::size_t begun = text.size();
  const std::int64_t limit = tokens_written(plan, prompt, count);
  const std::vector<std::int32_t> ends = ends_of(prompt);
  const std::span<const std::int32_t> source = source_of(prompt);
  for (std::int64_t drawn = 0; drawn < limit; ++drawn) {
    auto rows = std::min<std::ptrdiff_t>(std::ptrdiff_t(text.size()), plan.context);
    seen.assign(text.end() - rows, text.end());
    batch.starts = {0, std::int32_t(rows)};
    Prediction next = trainer.predict(batch);
    next.values.resize(std::size_t(std::min(plan.vocabulary, next.columns)));
    apply_rules(next.values, {text, begun, limit, ends, source}, options);
    text.push_back(sample(next.values, options, std::uint64_t(drawn)));
    if (std::ranges::find(ends, text.back()) != ends.end()) return GenerationEnd::end_of_text;
    if (!on_token(text.back())) return GenerationEnd::cancelled;
  }
  return GenerationEnd::length;
}

}  // namespace sinter
