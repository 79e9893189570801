// SPDX-License-Identifier: Apache-2.0
// Texts whose next token's logits are a function of the text, in place of a model's.
#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "sinter/error.hpp"
#include "sinter/generate/decoding_batch.hpp"

namespace sinter::detail::testing {

/// A DecodingBatch without a model. It refuses what the interface does not allow.
class ToyBatch final : public DecodingBatch {
 public:
  using Text = std::vector<std::int32_t>;
  using Logits = std::function<std::vector<float>(const Text&)>;

  ToyBatch(int max_rows, Logits logits) : max_rows_(max_rows), logits_of_(std::move(logits)) {}

  int max_rows() const override { return max_rows_; }
  int rows() const override { return int(rows_.size()); }
  void add(const Prompt& prompt, int hypotheses) override {
    int kept = hypotheses;
    for (int other : kept_) kept += other;
    if (kept > max_rows_) throw ArgumentError("too many rows");
    rows_.push_back({int(kept_.size()), prompt.tokens, logits_of_(prompt.tokens)});
    kept_.push_back(hypotheses);
    most_rows = std::max(most_rows, rows());
  }
  std::span<float> logits(int row) override { return rows_.at(std::size_t(row)).logits; }
  void extend(std::span<const int> parents, std::span<const std::int32_t> tokens) override {
    std::vector<Row> next;
    std::vector<int> kept(kept_.size());
    int last = 0;
    for (std::size_t k = 0; k < parents.size(); ++k) {
      const Row& parent = rows_.at(std::size_t(parents[k]));
      if (parent.text < last) throw ArgumentError("rows of a text are no neighbours");
      last = parent.text;
      if (++kept[std::size_t(last)] > kept_[std::size_t(last)])
        throw ArgumentError("a text has more hypotheses than were asked for");
      Text text = parent.tokens;
      text.push_back(tokens[k]);
      std::vector<float> logits = logits_of_(text);
      next.push_back({last, std::move(text), std::move(logits)});
    }
    for (std::size_t text = 0; text < kept.size(); ++text)
      if (kept[text] == 0) kept_[text] = 0;  // it has ended
    rows_ = std::move(next);
    most_rows = std::max(most_rows, rows());
    ++steps;
  }

  int most_rows = 0, steps = 0;

 private:
  struct Row {
    int text;
    Text tokens;
    std::vector<float> logits;
  };
  const int max_rows_;
  Logits logits_of_;
  std::vector<Row> rows_;
  std::vector<int> kept_;  // of each text that was added
};

/// Logits of `vocabulary` tokens that hang on the whole text, and look random.
inline ToyBatch::Logits random_logits(int vocabulary, std::uint64_t seed = 1) {
  return [=](const ToyBatch::Text& text) {
    std::uint64_t state = seed;
    const auto mix = [&](std::uint64_t more) {
      state = (state ^ more) * 0x9e3779b97f4a7c15;
      state ^= state >> 29;
    };
    for (std::int32_t token : text) mix(std::uint64_t(token) + 1);
    std::vector<float> logits;
    for (int token = 0; token < vocabulary; ++token) {
      mix(std::uint64_t(token) + 1000);
      logits.push_back(float(state >> 40) / float(1 << 22) - 2);
    }
    return logits;
  };
}

}  // namespace sinter::detail::testing
