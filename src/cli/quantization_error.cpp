// SPDX-License-Identifier: Apache-2.0
#include "cli/quantization_error.hpp"

#include <algorithm>
#include <cmath>

#include "cli/text_writer.hpp"
#include "cli/weights_fit.hpp"
#include "generate/request_rows.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/program/id_limit.hpp"

namespace sinter::detail::cli {
namespace {

/// Texts of a batch, with the token that follows each of their tokens.
struct Text {
  std::span<const std::int32_t> source, tokens, targets;  // source: of an encoder
};

std::vector<Text> texts_of(const HostBatch& batch, const Model& model) {
  std::vector<Text> texts(std::size_t(batch.sequences()));
  std::size_t number = 0;
  for (const External& input : model.externals) {
    if (input.width > 0) continue;
    const std::vector<std::int32_t>& ids = batch.ids[number++];
    for (std::size_t s = 0; s < texts.size(); ++s) {
      const HostBatch::Rows own = batch.own_rows(input.axis, int(s));
      const auto part = std::span(ids).subspan(std::size_t(own.begin), std::size_t(own.count()));
      (input.targets     ? texts[s].targets
       : input.axis == 0 ? texts[s].tokens
                         : texts[s].source) = part;
    }
  }
  std::erase_if(texts, [](const Text& text) { return text.tokens.empty(); });
  return texts;
}

/// log softmax of logits.
std::vector<double> log_probabilities(std::span<const float> logits) {
  const double total = log_sum_exp(logits);
  std::vector<double> result(logits.size());
  std::ranges::transform(logits, result.begin(), [&](float x) { return double(x) - total; });
  return result;
}

void compare(std::span<const float> plain, std::span<const float> quantized, std::int32_t target,
             QuantizationError& sums) {
  const std::vector<double> p = log_probabilities(plain), q = log_probabilities(quantized);
  for (std::size_t k = 0; k < p.size(); ++k) sums.divergence += std::exp(p[k]) * (p[k] - q[k]);
  sums.loss -= p[std::size_t(target)];
  sums.quantized_loss -= q[std::size_t(target)];
  sums.same_choice +=
      std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin();
  ++sums.tokens;
}

/// Reads texts side by side, token by token, in both models.
void read_both(GeneratorCore& plain, GeneratorCore& quantized, std::span<const Text> texts,
               std::int64_t most, QuantizationError& sums) {
  std::vector<const Text*> read;
  for (const Text& text : texts) {
    const std::vector<std::int32_t> first{text.tokens.front()};
    Prompt prompt{.tokens = first};
    if (is_encoder_decoder(plain.plan().predicting))
      prompt = {.tokens = {text.source.begin(), text.source.end()}, .decoder = first};
    plain.add(prompt), quantized.add(prompt);
    read.push_back(&text);
  }
  for (std::size_t at = 0; !read.empty() && sums.tokens < most; ++at) {
    std::vector<int> parents;
    std::vector<std::int32_t> next;
    std::vector<const Text*> left;
    for (std::size_t row = 0; row < read.size(); ++row) {
      const Text& text = *read[row];
      if (text.targets[at] >= 0)
        compare(plain.logits(int(row)), quantized.logits(int(row)), text.targets[at], sums);
      if (at + 1 == text.tokens.size()) continue;
      parents.push_back(int(row));
      next.push_back(text.tokens[at + 1]);
      left.push_back(&text);
    }
    read = std::move(left);
    plain.extend(parents, next), quantized.extend(parents, next);
  }
  plain.clear(), quantized.clear();
}

}  // namespace

QuantizationError quantization_error(const RecipeView& recipe, const Arguments& a, AnySource& data,
                                     std::int64_t most) {
  const TrainerSettings settings{0, a.threads, false, {}, a.scratch};
  GeneratorCore quantized(generation_of(recipe, true), settings);
  GeneratorCore plain(generation_of(recipe, false), settings);
  load_weights_of(quantized.weights(), a), load_weights_of(plain.weights(), a);
  QuantizationError sums;
  HostBatch batch;
  const auto rows = std::size_t(plain.max_rows());
  while (sums.tokens < most && data.next(batch)) {
    const std::vector<Text> texts = texts_of(batch, recipe.plan->evaluating);
    for (std::size_t first = 0; first < texts.size() && sums.tokens < most; first += rows)
      read_both(plain, quantized,
                std::span(texts).subspan(first, std::min(rows, texts.size() - first)), most, sums);
  }
  const auto count = double(std::max<std::int64_t>(sums.tokens, 1));
  for (double* sum : {&sums.loss, &sums.quantized_loss, &sums.divergence, &sums.same_choice})
    *sum /= count;
  return sums;
}

}  // namespace sinter::detail::cli
