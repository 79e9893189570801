// SPDX-License-Identifier: Apache-2.0
#include "trainer/reply_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sinter/error.hpp"

namespace sinter::detail {

ReplyRanks::ReplyRanks(TrainerCore& trainer, int candidates,
                       std::function<void(const RankedReply&)> take)
    : trainer_(trainer), candidates_(std::size_t(candidates)), take_(std::move(take)) {}

void ReplyRanks::add(const ReplyParts& parts) {
  const auto copy = [](std::span<const std::int32_t> ids) {
    return std::vector<std::int32_t>(ids.begin(), ids.end());
  };
  examples_.push_back({copy(parts.source), copy(parts.before), copy(parts.reply)});
  if (examples_.size() - ranked_ == candidates_) rank_rest();
}

void ReplyRanks::finish() {
  if (ranked_ == examples_.size()) return;
  if (examples_.size() < candidates_)
    throw ArgumentError(fmt::format(
        "A metric ranks the reply of each example among {} candidates, and the evaluation has "
        "{} examples. Evaluate more (Evaluate::examples), or rank among fewer, as in "
        "HitsAt<{{.candidates = 10}}>.",
        candidates_, examples_.size()));
  rank_rest();
}

/// Ranks the examples that are not, among the last ones, and forgets those before.
void ReplyRanks::rank_rest() {
  const std::size_t waiting = examples_.size() - ranked_;
  examples_.erase(examples_.begin(), examples_.end() - std::ptrdiff_t(candidates_));
  std::vector<std::size_t> distinct;  // the first of each reply
  for (std::size_t k = 0; k < candidates_; ++k)
    if (std::ranges::none_of(distinct, [&](std::size_t other) {
          return examples_[other].reply == examples_[k].reply;
        }))
      distinct.push_back(k);
  for (std::size_t k = candidates_ - waiting; k < candidates_; ++k) rank(examples_[k], distinct);
  ranked_ = candidates_;
}

/// Ranks the reply of an example among those of others.
void ReplyRanks::rank(const Example& example, std::span<const std::size_t> among) {
  std::vector<double> losses;
  std::size_t own = 0;
  for (std::size_t k = 0; k < among.size(); ++k) {
    const Example& other = examples_[among[k]];
    if (other.reply == example.reply) own = k;
    losses.push_back(loss_of(example, other.reply));
  }
  const auto stands_before = [&](std::size_t k) {
    return losses[k] < losses[own] || (losses[k] == losses[own] && k < own);
  };
  RankedReply ranked{.candidates = int(among.size())};
  for (std::size_t k = 0; k < among.size(); ++k) ranked.rank += stands_before(k);
  take_(ranked);
}

/// The mean loss of the tokens of a reply behind what an example shows; infinity if there is none.
double ReplyRanks::loss_of(const Example& example, std::span<const std::int32_t> reply) {
  const std::size_t room = std::size_t(trainer_.plan().context) + 1 - reply.size();
  const auto before = std::span(example.before).last(std::min(example.before.size(), room));
  batch_.clear();
  batch_.ids.resize(example.source.empty() ? 2 : 3);
  if (!example.source.empty()) {
    batch_.ids[0] = example.source;
    batch_.second_starts = {0, std::int32_t(example.source.size())};
  }
  std::vector<std::int32_t>& tokens = batch_.ids[batch_.ids.size() - 2];
  std::vector<std::int32_t>& targets = batch_.ids.back();
  tokens.assign(before.begin(), before.end());
  tokens.insert(tokens.end(), reply.begin(), reply.end() - 1);
  targets.assign(before.size() - 1, -1);
  targets.insert(targets.end(), reply.begin(), reply.end());
  batch_.starts.push_back(std::int32_t(tokens.size()));
  const double mean = trainer_.evaluate(batch_).mean();
  return std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean;
}

}  // namespace sinter::detail
