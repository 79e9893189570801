// SPDX-License-Identifier: Apache-2.0
// Results of a request that do not look at each other.
#include <algorithm>
#include <numeric>

#include "generate/prompts.hpp"
#include "generate/request_rows.hpp"

namespace sinter::detail {
namespace {

class IndependentRows final : public RequestRows {
 public:
  explicit IndependentRows(Begun begun)
      : begun_(std::move(begun)), has_rules_(has_rules(begun_.request.sampling)) {
    const GenerationRequest& request = begun_.request;
    prompt_ = continued(request.prompt).size();
    for (int result = 0; result < request.results; ++result) {
      Text text{continued(request.prompt), request.sampling};
      text.options.seed = stream_seed(text.options.seed, begun_.draws, std::uint64_t(result));
      const auto soon = std::size_t(std::min<std::int64_t>(request.tokens, 1024));
      text.tokens.reserve(prompt_ + soon);
      text.log_probabilities.reserve(soon + 1);
      texts_.push_back(std::move(text));
    }
  }

  int rows() const override { return rows_; }

  bool step(DecodingBatch& batch, int first, NextRows& next) override {
    const int before = next.count();
    for (std::size_t result = 0; result < texts_.size(); ++result) {
      Text& text = texts_[result];
      if (text.row < 0) continue;
      const int row = first + text.row;
      const std::int32_t token = choose(text, batch.logits(row));
      if (begun_.is_end(token)) {
        end(text, GenerationEnd::end_of_text);
        text.end_token = token;
        continue;
      }
      text.tokens.push_back(token);
      const auto& on_token = begun_.hooks.on_token;
      const double log_probability =
          text.log_probabilities.empty() ? 0 : text.log_probabilities.back();
      if (on_token && !on_token({begun_.index, int(result), token, log_probability})) return false;
      const auto written = std::span<const std::int32_t>(text.tokens).subspan(prompt_);
      if (begun_.stops(written)) {
        end(text, GenerationEnd::stopped);
      } else if (std::int64_t(written.size()) == begun_.request.tokens) {
        end(text, GenerationEnd::length);
      } else {
        text.row = next.count() - before;
        next.add(row, token);
      }
    }
    rows_ = next.count() - before;
    return true;
  }

  std::vector<GeneratedText> results() override {
    std::vector<GeneratedText> results;
    for (Text& text : texts_) {
      const double score =
          std::accumulate(text.log_probabilities.begin(), text.log_probabilities.end(), 0.);
      results.push_back({{text.tokens.begin() + std::ptrdiff_t(prompt_), text.tokens.end()},
                         std::move(text.log_probabilities),
                         score,
                         text.end,
                         text.end_token});
    }
    return results;
  }

 private:
  struct Text {
    std::vector<std::int32_t> tokens;  // the prompt's, and those that were written
    SamplingOptions options;           // with the seed of this result
    std::vector<double> log_probabilities{};
    int row = 0;  // among the request's; -1 if the text has ended
    GenerationEnd end = GenerationEnd::cancelled;
    std::int32_t end_token = -1;
  };

  /// Draws the next token of a text, and notes its probability if that is asked for.
  std::int32_t choose(Text& text, std::span<const float> logits) {
    const GenerationRequest& request = begun_.request;
    std::span<const float> scores = logits;
    if (has_rules_) {
      scores_.assign(logits.begin(), logits.end());
      apply_rules(scores_,
                  {text.tokens, prompt_, request.tokens, begun_.ends, source_of(request.prompt)},
                  text.options, memory_);
      scores = scores_;
    }
    const int token = sample(scores, text.options, text.tokens.size() - prompt_, memory_);
    if (request.log_probabilities)
      text.log_probabilities.push_back(logits[std::size_t(token)] - log_sum_exp(logits));
    return token;
  }

  static void end(Text& text, GenerationEnd why) {
    text.end = why;
    text.row = -1;
  }

  const Begun begun_;
  const bool has_rules_;
  std::size_t prompt_;  // tokens of the prompt
  std::vector<Text> texts_;
  int rows_ = 1;
  std::vector<float> scores_;
  SamplingMemory memory_;
};

}  // namespace

std::unique_ptr<RequestRows> independent_rows(Begun begun) {
  return std::make_unique<IndependentRows>(std::move(begun));
}

}  // namespace sinter::detail
