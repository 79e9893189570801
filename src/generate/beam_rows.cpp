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

/// A text that may become a result. Its memory is reused for others.
struct Hypothesis {
  std::vector<std::int32_t> tokens{};  // the prompt's, and those that were written
  std::vector<double> log_probabilities{};
  double score = 0;  // the sum of the tokens' scores; of one that ended, divided by the penalty
  GenerationEnd end = GenerationEnd::cancelled;

  void reserve(std::size_t prompt, std::size_t written) {
    tokens.reserve(prompt + written);
    log_probabilities.reserve(written);
  }
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
        has_rules_(has_rules(options_)),
        prompt_(continued(begun_.request.prompt).size()),
        wanted_(std::max<std::size_t>(2, 1 + begun_.ends.size()) * beams()) {
    options_.seed = stream_seed(options_.seed, begun_.draws, 0);
    const auto soon = std::size_t(std::min<std::int64_t>(begun_.request.tokens, 256));
    for (auto* texts : {&running_, &children_, &finished_}) {
      texts->resize(beams());
      for (Hypothesis& text : *texts) text.reserve(prompt_, soon);
    }
    followed_.reserve(prompt_, soon);
    running_[0].tokens = continued(begun_.request.prompt);
    // Of draws there are as many as rules leave, which differs from token to token.
    const std::size_t enough = draws() ? std::max<std::size_t>(wanted_, 4096) : wanted_;
    candidates_.reserve(enough);
    weights_.reserve(enough);
    drawn_.reserve(wanted_);
    totals_.reserve(beams());
  }

  int rows() const override { return int(runs_); }

  bool step(DecodingBatch& batch, int first, NextRows& next) override {
    find_candidates(batch, first);
    std::size_t children = 0;
    next_.clear();
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      // The others are there so that as many hypotheses go on as there are beams.
      if (place >= beams() && children == beams()) break;
      const Candidate& candidate = candidates_[place];
      follow(batch, first, candidate);
      if (const auto end = end_of(followed_)) {
        if (place < beams()) finish(followed_, *end);
      } else if (children < beams()) {
        std::swap(children_[children++], followed_);
        next_.add(first + candidate.parent, candidate.token);
      }
    }
    running_.swap(children_);
    runs_ = children;
    ++written_;
    if (runs_ > 0 && is_decided()) runs_ = 0;
    for (std::size_t k = 0; k < runs_; ++k) next.add(next_.parents[k], next_.tokens[k]);
    return true;
  }

  std::vector<GeneratedText> results() override {
    for (std::size_t k = 0; k < runs_; ++k) finish(running_[k], GenerationEnd::cancelled);
    runs_ = 0;
    std::vector<GeneratedText> results;
    for (Hypothesis& text : std::span(finished_).first(ended_)) {
      if (results.size() == std::size_t(begun_.request.results)) break;
      const bool has_end = text.end == GenerationEnd::end_of_text;
      results.push_back(
          {{text.tokens.begin() + std::ptrdiff_t(prompt_), text.tokens.end() - has_end},
           std::move(text.log_probabilities),
           text.score,
           text.end,
           has_end ? text.tokens.back() : -1});
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
                options_, memory_);
    if (!draws()) return;
    const bool keeps_all = options_.top_k == 0 && options_.top_p == 1 && options_.min_p == 0 &&
                           options_.typical_p == 1;
    if (!keeps_all && std::ranges::any_of(scores_, [](float s) { return std::isfinite(s); })) {
      const std::size_t least = std::max<std::size_t>(2, 1 + begun_.ends.size());
      kept_.assign(scores_.size(), -HUGE_VALF);
      for (const int token : kept_tokens(scores_, options_, least, memory_))
        kept_[std::size_t(token)] = scores_[std::size_t(token)];
      scores_.swap(kept_);
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
      const float largest = check_logits(logits);
      const Hypothesis& text = running_[std::size_t(parent)];
      totals_.push_back(kernel::log_sum_exp(logits.data(), std::ssize(logits), largest));
      const auto total = float(totals_.back());
      if (draws() || has_rules_) {
        score_tokens(text, logits, total);
        add_candidates(text, scores_, 0, parent);
      } else {
        add_candidates(text, logits, total, parent);
      }
    }
    if (candidates_.empty() && ended_ == 0)
      throw NonFiniteError("The model's prediction, or a rule of sampling, forbids every token.");
    if (draws()) draw_candidates();
    std::ranges::sort(candidates_, is_better);
  }

  /// Adds what may follow a hypothesis, as far as it is wanted. A token's score is its number minus
  /// `total`, rounded.
  void add_candidates(const Hypothesis& text, std::span<const float> numbers, float total,
                      int parent) {
    const std::int64_t tokens = std::ssize(numbers);
    const auto next = [&](std::int64_t from) {
      return draws() ? from
                     : kernel::find_at_least(numbers.data(), from, tokens, bound_of(text, total));
    };
    for (std::int64_t token = next(0); token < tokens; token = next(token + 1)) {
      const double score = text.score + float(numbers[std::size_t(token)] - total);
      if (score >= least_ && std::isfinite(score))
        keep_candidate({score, parent, std::int32_t(token)});
    }
  }

  /// A number of a token below which no candidate of a hypothesis is wanted. As scores are rounded, it
  /// is a bit lower than it need be.
  float bound_of(const Hypothesis& text, float total) const {
    const double score = least_ - text.score;
    const double slack = (1 + std::abs(score) + std::abs(total)) * 0x1p-23;
    return std::nextafter(float(score + total - slack), -HUGE_VALF);
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
    std::vector<double>& weights = weights_;
    weights.clear();
    for (const Candidate& candidate : candidates_)
      weights.push_back(std::exp(candidate.score - top));
    drawn_.clear();
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
      drawn_.push_back(candidates_[chosen]);
      weights[chosen] = 0;
    }
    candidates_.assign(drawn_.begin(), drawn_.end());
  }

  /// Sets followed_ to a hypothesis and the token behind it.
  void follow(DecodingBatch& batch, int first, const Candidate& candidate) {
    followed_ = running_[std::size_t(candidate.parent)];  // into the memory that it has
    followed_.tokens.push_back(candidate.token);
    followed_.score = candidate.score;
    const float logit = batch.logits(first + candidate.parent)[std::size_t(candidate.token)];
    followed_.log_probabilities.push_back(logit - totals_[std::size_t(candidate.parent)]);
  }

  /// Why a text ends with its last token, if it does.
  std::optional<GenerationEnd> end_of(const Hypothesis& text) const {
    if (begun_.is_end(text.tokens.back())) return GenerationEnd::end_of_text;
    const auto written = std::span<const std::int32_t>(text.tokens).subspan(prompt_);
    if (begun_.stops(written)) return GenerationEnd::stopped;
    if (std::int64_t(written.size()) == begun_.request.tokens) return GenerationEnd::length;
    return std::nullopt;
  }

  /// Takes a text into those that ended, of which the best are kept, as many as beams. The text is
  /// no longer of use.
  void finish(Hypothesis& text, GenerationEnd end) {
    text.end = end;
    if (const std::size_t written = text.tokens.size() - prompt_; written > 0)
      text.score /= divisor(double(written));
    const auto ended = std::span(finished_).first(ended_);
    const auto place =
        std::ranges::upper_bound(ended, text.score, std::greater(), &Hypothesis::score) -
        ended.begin();
    if (place == std::ptrdiff_t(beams())) return;
    ended_ = std::min(ended_ + 1, beams());
    for (auto k = std::size_t(place); k < ended_; ++k) std::swap(finished_[k], text);
  }

  /// True if what runs is not to become a result.
  bool is_decided() const {
    if (ended_ < beams()) return false;
    const BeamOptions& options = begun_.request.beams;
    if (options.early_stopping == BeamStopping::yes) return true;
    const bool by_longest = options.early_stopping == BeamStopping::never && options.exponent > 0 &&
                            options.length_penalty != LengthPenalty::none;
    const std::int64_t length = by_longest ? begun_.request.tokens : written_;
    return running_.front().score / divisor(double(length)) <= finished_.back().score;
  }

  const Begun begun_;
  SamplingOptions options_;  // with the seed of this request
  const bool has_rules_;
  const std::size_t prompt_;  // tokens of the prompt
  // How many candidates are looked at: as many hypotheses as beams go on if all others end.
  const std::size_t wanted_;
  std::vector<Hypothesis> running_, finished_;  // of each the first count, best first
  std::size_t runs_ = 1, ended_ = 0;            // these counts
  std::int64_t written_ = 0;
  double least_ = 0;  // candidates below it are not wanted
  // What a token works with, kept so that it allocates nothing.
  std::vector<Hypothesis> children_;
  Hypothesis followed_;
  NextRows next_;
  std::vector<Candidate> candidates_, drawn_;
  std::vector<float> scores_, kept_;
  std::vector<double> totals_;  // of each row, the logarithm of the sum of exponentials
  std::vector<double> weights_;
  SamplingMemory memory_;
};

}  // namespace

std::unique_ptr<RequestRows> beam_rows(Begun begun) {
  return std::make_unique<BeamRows>(std::move(begun));
}

}  // namespace sinter::detail
