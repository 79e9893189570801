// SPDX-License-Identifier: Apache-2.0
// The rules of SamplingOptions that look back at the text, as transformers' logits processors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sinter/generate/sampling.hpp"

namespace sinter::detail {
namespace {

using Tokens = std::span<const std::int32_t>;
constexpr float forbidden = -std::numeric_limits<float>::infinity();

/// True if the text ends with all of a sequence but its last token.
bool leads_to(Tokens text, Tokens sequence) {
  const Tokens head = sequence.first(sequence.size() - 1);
  return head.size() <= text.size() && std::ranges::equal(head, text.last(head.size()));
}

/// Gives the logits of some tokens to a function, once for each token that is one of the model's.
void each(std::span<float> logits, Tokens tokens, auto change) {
  for (std::int32_t token : tokens)
    if (std::size_t(token) < logits.size())
      logits[std::size_t(token)] = change(logits[std::size_t(token)]);
}

void forbid(std::span<float> logits, Tokens tokens) {
  each(logits, tokens, [](float) { return forbidden; });
}

void forbid_others(std::span<float> logits, Tokens tokens) {
  std::ranges::fill(logits, forbidden);
  each(logits, tokens, [](float) { return 0.f; });
}

/// Changes the logit of each token of a text by how often the text has it.
void each_by_count(std::span<float> logits, Tokens text, std::vector<std::int32_t>& sorted,
                   auto change) {
  if (sorted.capacity() < text.size())  // texts grow token by token
    sorted.reserve(std::max<std::size_t>(1024, 2 * text.size()));
  sorted.assign(text.begin(), text.end());
  std::ranges::sort(sorted);
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last =
        std::find_if(first, sorted.end(), [&](auto token) { return token != *first; });
    each(logits, {&*first, 1}, [&](float l) { return change(l, int(last - first)); });
    first = last;
  }
}

/// Forbids tokens that stand behind the last n - 1 tokens of `text` somewhere in `seen`.
void forbid_repeated_ngrams(std::span<float> logits, Tokens text, Tokens seen, int length) {
  const std::size_t n = std::size_t(length);
  if (length == 0 || text.size() + 1 < n) return;
  const Tokens end = text.last(n - 1);
  for (std::size_t at = 0; at + n <= seen.size(); ++at)
    if (std::ranges::equal(seen.subspan(at, n - 1), end))
      forbid(logits, seen.subspan(at + n - 1, 1));
}

}  // namespace

bool has_rules(const SamplingOptions& options) {
  const bool penalizes = options.repetition_penalty != 1 || options.frequency_penalty != 0 ||
                         options.presence_penalty != 0;
  const bool blocks = options.no_repeat_ngram != 0 || options.no_repeat_written_ngram != 0 ||
                      options.no_repeat_prompt_ngram != 0;
  const bool lists = !options.sequence_bias.empty() || !options.bad_words.empty() ||
                     !options.forced_first.empty() || !options.forced_last.empty() ||
                     !options.suppressed.empty() || !options.suppressed_first.empty();
  return penalizes || blocks || lists || options.min_new_tokens > 0;
}

void apply_rules(std::span<float> logits, const WrittenText& text, const SamplingOptions& options,
                 SamplingMemory& memory) {
  const Tokens all = text.tokens;
  for (const SequenceBias& rule : options.sequence_bias)
    if (leads_to(all, rule.tokens))
      each(logits, Tokens(rule.tokens).last(1), [&](float l) { return float(l + rule.bias); });
  if (options.repetition_penalty != 1)
    each_by_count(logits, all, memory.sorted,
                  [penalty = float(options.repetition_penalty)](float l, int) {
                    return l < 0 ? l * penalty : l / penalty;
                  });
  if (options.frequency_penalty != 0 || options.presence_penalty != 0)
    each_by_count(logits, all.subspan(text.prompt), memory.sorted, [&](float l, int count) {
      return float(l - options.frequency_penalty * count - options.presence_penalty);
    });
  const bool decodes = !text.source.empty();
  const Tokens written = decodes ? all : all.subspan(text.prompt);
  forbid_repeated_ngrams(logits, all, all, options.no_repeat_ngram);
  forbid_repeated_ngrams(logits, written, written, options.no_repeat_written_ngram);
  forbid_repeated_ngrams(logits, all, decodes ? text.source : all.first(text.prompt),
                         options.no_repeat_prompt_ngram);
  for (const auto& word : options.bad_words) {
    const bool is_end = word.size() == 1 && std::ranges::count(text.ends, word[0]) > 0;
    if (!is_end && leads_to(all, word)) forbid(logits, Tokens(word).last(1));
  }
  if (text.written() < options.min_new_tokens) forbid(logits, text.ends);
  if (text.written() == 0 && !options.forced_first.empty())
    forbid_others(logits, options.forced_first);
  if (text.written() + 1 == text.limit && !options.forced_last.empty())
    forbid_others(logits, options.forced_last);
  forbid(logits, options.suppressed);
  const std::int64_t first = options.forced_first.empty() ? 0 : 1;
  if (text.written() == first) forbid(logits, options.suppressed_first);
}

}  // namespace sinter::detail
