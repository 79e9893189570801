// SPDX-License-Identifier: Apache-2.0
// Drawing a token from logits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/logits.hpp"
#include "sinter/data/permutation.hpp"
#include "sinter/error.hpp"
#include "sinter/generate/sampling.hpp"
#include "sinter/kernels/random.hpp"

namespace sinter::detail {
namespace {

/// Tokens from the likeliest on, of equals the lower. Only as many are sorted as someone asks for,
/// since few of a large vocabulary are likely.
class Ranking {
 public:
  /// requires  the memory is not used otherwise
  Ranking(std::span<const float> logits, double temperature, std::vector<int>& memory)
      : logits_(logits), temperature_(temperature), tokens_(memory) {
    tokens_.resize(logits.size());
    std::iota(tokens_.begin(), tokens_.end(), 0);
    sort_to(1);
  }

  std::size_t size() const { return tokens_.size(); }
  /// The token of a rank, from 0.
  int token(std::size_t rank) {
    if (rank >= sorted_) sort_to(std::max(rank + 1, 4 * sorted_));
    return tokens_[rank];
  }
  float logit(std::size_t rank) { return logits_[std::size_t(token(rank))]; }
  /// How likely a token is beside the likeliest.
  double weight(std::size_t rank) { return weight_of(token(rank)); }
  /// The sum of the weights of the `count` likeliest.
  double total(std::size_t count) {
    double sum = 0;
    if (count < size()) {
      for (std::size_t rank = 0; rank < count; ++rank) sum += weight(rank);
    } else {
      for (int token : tokens_) sum += weight_of(token);
    }
    return sum;
  }

 private:
  double weight_of(int other) const {
    return std::exp((double(logits_[std::size_t(other)]) - logits_[std::size_t(tokens_[0])]) /
                    temperature_);
  }
  void sort_to(std::size_t end) {
    end = std::min(std::max<std::size_t>(end, 64), size());
    std::partial_sort(tokens_.begin() + std::ptrdiff_t(sorted_),
                      tokens_.begin() + std::ptrdiff_t(end), tokens_.end(), [&](int a, int b) {
                        const float x = logits_[std::size_t(a)], y = logits_[std::size_t(b)];
                        return x > y || (x == y && a < b);
                      });
    sorted_ = end;
  }

  std::span<const float> logits_;
  double temperature_;
  std::vector<int>& tokens_;
  std::size_t sorted_ = 0;
};

/// Returns how many of the likeliest tokens top_k, top_p and min_p leave. Each leaves at least
/// `least` of them.
std::size_t likeliest(Ranking& ranking, const SamplingOptions& options, std::size_t least) {
  std::size_t count = ranking.size();
  least = std::min(least, count);
  if (const std::size_t k = std::max(std::size_t(options.top_k), least);
      options.top_k > 0 && k < count) {
    count = k;
    const float last = ranking.logit(count - 1);
    while (count < ranking.size() && ranking.logit(count) == last) ++count;
  }
  if (options.top_p < 1) {
    const double enough = options.top_p * ranking.total(count);
    std::size_t taken = 0;
    for (double mass = 0; taken < count && mass < enough; ++taken) mass += ranking.weight(taken);
    count = std::max(taken, least);
  }
  if (options.min_p > 0) {
    std::size_t taken = 1;
    while (taken < count && ranking.weight(taken) >= options.min_p) ++taken;
    count = std::max(taken, least);
  }
  return count;
}

/// Returns the ranks, of the `count` likeliest, that typical_p leaves, ascending: at
/// least `least`.
const std::vector<std::size_t>& typical(Ranking& ranking, std::size_t count, double share,
                                        std::size_t least, SamplingMemory& memory) {
  const double total = ranking.total(count);
  double entropy = 0;
  auto& surprises = memory.surprises;  // each becomes its distance to the mean
  surprises.clear();
  for (std::size_t rank = 0; rank < count; ++rank) {
    const double p = ranking.weight(rank) / total;
    if (p <= 0) break;
    surprises.emplace_back(-std::log(p), rank);
    entropy -= p * std::log(p);
  }
  for (auto& [surprise, rank] : surprises) surprise = std::abs(surprise - entropy);
  std::ranges::sort(surprises);
  std::vector<std::size_t>& kept = memory.kept;
  kept.clear();
  kept.reserve(ranking.size());
  double mass = 0, farthest = 0;
  for (const auto& [distance, rank] : surprises) {
    if (mass >= share && distance > farthest && kept.size() >= least) break;
    kept.push_back(rank);
    mass += ranking.weight(rank) / total;
    farthest = distance;
  }
  std::ranges::sort(kept);
  return kept;
}

/// Returns the ranks that all rules leave, ascending.
const std::vector<std::size_t>& ranks_kept(Ranking& ranking, const SamplingOptions& options,
                                           std::size_t least, SamplingMemory& memory) {
  const std::size_t count = likeliest(ranking, options, least);
  if (options.typical_p < 1) return typical(ranking, count, options.typical_p, least, memory);
  memory.kept.reserve(ranking.size());
  memory.kept.resize(count);
  std::iota(memory.kept.begin(), memory.kept.end(), 0);
  return memory.kept;
}

}  // namespace

double uniform_draw(std::uint64_t seed, std::uint64_t position) {
  return double(kernel::mix_bits(Permutation::epoch_key(seed, position)) >> 11) * 0x1p-53;
}

std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t request, std::uint64_t result) {
  if (request == 0 && result == 0) return seed;
  return Permutation::item_key(seed, request, result);
}

float check_logits(std::span<const float> logits) {
  const auto [largest, is_fine] = kernel::logit_range(logits.data(), std::ssize(logits));
  if (!is_fine)
    throw NonFiniteError(
        "The model's prediction is not finite. Its weights are bad; use another "
        "checkpoint.");
  if (largest == -std::numeric_limits<float>::infinity())
    throw NonFiniteError("The model's prediction, or a rule of sampling, forbids every token.");
  return largest;
}

std::span<const int> kept_tokens(std::span<const float> logits, const SamplingOptions& options,
                                 std::size_t least, SamplingMemory& memory) {
  check_sampling(options, int(logits.size()));
  check_logits(logits);
  Ranking ranking(logits, options.temperature, memory.ranking);
  memory.tokens.clear();
  memory.tokens.reserve(logits.size());
  for (const std::size_t rank : ranks_kept(ranking, options, least, memory))
    memory.tokens.push_back(ranking.token(rank));
  return memory.tokens;
}

int sample(std::span<const float> logits, const SamplingOptions& options, std::uint64_t position,
           SamplingMemory& memory) {
  check_sampling(options, int(logits.size()));
  const float largest = check_logits(logits);
  if (options.temperature == 0)
    return int(kernel::find_at_least(logits.data(), 0, std::ssize(logits), largest));
  Ranking ranking(logits, options.temperature, memory.ranking);
  const std::size_t count = likeliest(ranking, options, 1);
  const double random = uniform_draw(options.seed, position);
  if (options.typical_p < 1) {
    const std::vector<std::size_t>& kept = typical(ranking, count, options.typical_p, 1, memory);
    double total = 0, up_to = 0;
    for (std::size_t rank : kept) total += ranking.weight(rank);
    for (std::size_t rank : kept)
      if ((up_to += ranking.weight(rank)) > random * total) return ranking.token(rank);
    return ranking.token(kept.back());
  }
  const double drawn = random * ranking.total(count);
  std::size_t rank = 0;
  for (double up_to = ranking.weight(0); up_to <= drawn && rank + 1 < count;)
    up_to += ranking.weight(++rank);
  return ranking.token(rank);
}

}  // namespace sinter::detail
