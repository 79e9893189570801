// SPDX-License-Identifier: Apache-2.0
// Beam search, by the rules of transformers 5.24.
#include <algorithm>
#include <cmath>
#include <optional>

#include "generate/prompts.hpp"
#include "generate/request_rows.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// A text that may become a result.
struct Hypothesis {
  std::vector<std::int32_t> tokens;  // the prompt's, and those that were written
  std::vector<double> log_probabilities{};
  double score = 0;  // the sum of the tokens' scores; of one that ended, divided by the penalty
  GenerationEnd end = GenerationEnd::cancelled;
};

/// A token that may follow a hypothesis.
struct Candidate {
  double score;  // with that of the hypothesis
  int parent;    // index of the hypothesis
  std::int32_t token;
};

/// True for the candidate that comes first: of equals that of the first hypothesis, and of its the
/// lower token.
bool is_better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.parent != b.parent ? a.parent < b.parent : a.token < b.token;
}

class BeamRows final : public RequestRows {
 public:
  explicit BeamRows(Begun begun)
      : begun_(std::move(begun)),
        options_(begun_.request.sampling),
        prompt_(continued(begun_.request.prompt).size()),
        wanted_(std::max<std::size_t>(2, 1 + begun_.ends.size()) * beams()) {
    options_.seed = stream_seed(options_.seed, begun_.draws, 0);
    running_.push_back({continued(begun_.request.prompt)});
  }

  int rows() const override { return int(running_.size()); }

  bool step(DecodingBatch& batch, int first, NextRows& next) override {
    find_candidates(batch, first);
    std::vector<Hypothesis> running;
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      const Candidate& candidate = candidates_[place];
      Hypothesis text = followed(batch, first, candidate);
      if (const auto end = end_of(text)) {
        // The others are there so that as many hypotheses go on as there are beams.
        if (place < beams()) finish(std::move(text), *end);
      } else if (running.size() < beams()) {
        running.push_back(std::move(text));
        next_.add(first + candidate.parent, candidate.token);
      }
    }
    running_ = std::move(running);
    ++written_;
    if (!running_.empty() && is_decided()) running_.clear();
    for (std::size_t k = 0; k < running_.size(); ++k) next.add(next_.parents[k], next_.tokens[k]);
    next_ = {};
    return true;
  }

  std::vector<GeneratedText> results() override {
    for (Hypothesis& text : running_) finish(std::move(text), GenerationEnd::cancelled);
    running_.clear();
    std::vector<GeneratedText> results;
    for (Hypothesis& text : finished_) {
      if (results.size() == std::size_t(begun_.request.results)) break;
      const bool has_end = text.end == GenerationEnd::end_of_text;
      results.push_back(
          {{text.tokens.begin() + std::ptrdiff_t(prompt_), text.tokens.end() - has_end},
           std::move(text.log_probabilities),
           text.score,
           text.end});
    }
    return results;
  }

 private:
  std::size_t beams() const { return std::size_t(begun_.request.beams.beams); }
  bool draws() const { return options_.temperature > 0; }

  /// What a score is divided by, after this number of written tokens.
  double divisor(double written) const {
    const BeamOptions& options = begun_.request.beams;
    if (options.length_penalty == LengthPenalty::none) return 1;
    const bool is_power = options.length_penalty == LengthPenalty::power;
    return std::pow(is_power ? written : (written + 2) / 6, options.exponent);
  }

  /// Sets scores_ to the log-probabilities of what follows a hypothesis, after all rules. Minus
  /// infinity forbids a token. `total` is log_sum_exp() of the logits.
  void score_tokens(const Hypothesis& text, std::span<const float> logits, float total) {
    scores_.resize(logits.size());
    std::ranges::transform(logits, scores_.begin(), [&](float logit) { return logit - total; });
    const GenerationRequest& request = begun_.request;
    apply_rules(scores_,
                {text.tokens, prompt_, request.tokens, begun_.ends, source_of(request.prompt)},
                options_);
    if (!draws()) return;
    const bool keeps_all = options_.top_k == 0 && options_.top_p == 1 && options_.min_p == 0 &&
                           options_.typical_p == 1;
    if (!keeps_all && std::ranges::any_of(scores_, [](float s) { return std::isfinite(s); })) {
      const std::size_t least = std::max<std::size_t>(2, 1 + begun_.ends.size());
      std::vector<float> kept(scores_.size(), -HUGE_VALF);
      for (int token : kept_tokens(scores_, options_, least))
        kept[std::size_t(token)] = scores_[std::size_t(token)];
      scores_.swap(kept);
    }
    for (float& score : scores_) score = float(score / options_.temperature);
  }

  /// Finds what may follow, best first.
  /// throws    NonFiniteError if nothing may
  void find_candidates(DecodingBatch& batch, int first) {
    candidates_.clear();
    least_ = -HUGE_VAL;
    totals_.clear();
    for (int parent = 0; parent < rows(); ++parent) {
      const std::span<const float> logits = batch.logits(first + parent);
      check_logits(logits);
      const Hypothesis& text = running_[std::size_t(parent)];
      totals_.push_back(log_sum_exp(logits));
      score_tokens(text, logits, float(totals_.back()));
      for (std::size_t token = 0; token < scores_.size(); ++token) {
        const double score = text.score + scores_[token];
        if (score >= least_ && std::isfinite(score))
          keep_candidate({score, parent, std::int32_t(token)});
      }
    }
    if (candidates_.empty() && finished_.empty())
      throw NonFiniteError("The model's prediction, or a rule of sampling, forbids every token.");
    if (draws()) draw_candidates();
    std::ranges::sort(candidates_, is_better);
  }

  /// Adds a candidate, if it is among the best that are wanted; where they are drawn, in any case. Of
  /// the best candidates_ is a heap with the worst in front.
  void keep_candidate(const Candidate& candidate) {
    if (draws()) return candidates_.push_back(candidate);
    if (candidates_.size() == wanted_) {
      if (!is_better(candidate, candidates_.front())) return;
      std::ranges::pop_heap(candidates_, is_better);
      candidates_.back() = candidate;
    } else {
      candidates_.push_back(candidate);
    }
    std::ranges::push_heap(candidates_, is_better);
    if (candidates_.size() == wanted_) least_ = candidates_.front().score;
  }

  /// Keeps as many as are wanted, drawn by their probabilities, without replacement.
  void draw_candidates() {
    if (candidates_.size() <= wanted_) return;
    const double top = std::ranges::min_element(candidates_, is_better)->score;
    std::vector<double> weights;
    for (const Candidate& candidate : candidates_)
      weights.push_back(std::exp(candidate.score - top));
    std::vector<Candidate> drawn;
    for (std::size_t k = 0; k < wanted_; ++k) {
      double total = 0;
      for (double weight : weights) total += weight;
      if (total <= 0) break;  // all others are too unlikely to count
      const double random =
          total * uniform_draw(options_.seed, std::uint64_t(written_) * wanted_ + k);
      double up_to = 0;
      std::size_t chosen = weights.size();
      for (std::size_t at = 0; at < weights.size() && up_to <= random; ++at) {
        up_to += weights[at];
        if (weights[at] > 0) chosen = at;
      }
      drawn.push_back(candidates_[chosen]);
      weights[chosen] = 0;
    }
    candidates_ = std::move(drawn);
  }

  Hypothesis followed(DecodingBatch& batch, int first, const Candidate& candidate) const {
    Hypothesis text = running_[std::size_t(candidate.parent)];
    text.tokens.push_back(candidate.token);
    text.score = candidate.score;
    const float logit = batch.logits(first + candidate.parent)[std::size_t(candidate.token)];
    text.log_probabilities.push_back(logit - totals_[std::size_t(candidate.parent)]);
    return text;
  }

  /// Why a text ends with its last token, if it does.
  std::optional<GenerationEnd> end_of(const Hypothesis& text) const {
    if (begun_.is_end(text.tokens.back())) return GenerationEnd::end_of_text;
    const auto written = std::span<const std::int32_t>(text.tokens).subspan(prompt_);
    if (begun_.stops(written)) return GenerationEnd::stopped;
    if (std::int64_t(written.size()) == begun_.request.tokens) return GenerationEnd::length;
    return std::nullopt;
  }

  /// Adds a text to those that ended, of which the best are kept, as many as beams.
  void finish(Hypothesis text, GenerationEnd end) {
    text.end = end;
    if (const std::size_t written = text.tokens.size() - prompt_; written > 0)
      text.score /= divisor(double(written));
    const auto place =
        std::ranges::upper_bound(finished_, text.score, std::greater(), &Hypothesis::score);
    finished_.insert(place, std::move(text));
    if (finished_.size() > beams()) finished_.pop_back();
  }

  /// True if what runs is not to become a result.
  bool is_decided() const {
    if (finished_.size() < beams()) return false;
    const BeamOptions& options = begun_.request.beams;
    if (options.early_stopping == BeamStopping::yes) return true;
    const bool by_longest = options.early_stopping == BeamStopping::never && options.exponent > 0 &&
                            options.length_penalty != LengthPenalty::none;
    const std::int64_t length = by_longest ? begun_.request.tokens : written_;
    return running_.front().score / divisor(double(length)) <= finished_.back().score;
  }

  const Begun begun_;
  SamplingOptions options_;   // with the seed of this request
  const std::size_t prompt_;  // tokens of the prompt
  // How many candidates are looked at: as many hypotheses as beams go on if all others end.
  const std::size_t wanted_;
  std::vector<Hypothesis> running_, finished_;  // both best first
  std::int64_t written_ = 0;
  NextRows next_;
  std::vector<Candidate> candidates_;
  double least_ = 0;  // candidates below it are not wanted
  std::vector<float> scores_;
  std::vector<double> totals_;  // of each row, the logarithm of the sum of exponentials
};

}  // namespace

std::unique_ptr<RequestRows> beam_rows(Begun begun) {
  return std::make_unique<BeamRows>(std::move(begun));
}

}  // namespace sinter::detail
