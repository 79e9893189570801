// SPDX-License-Identifier: Apache-2.0
#include "trainer/reply_sums.hpp"

#include <algorithm>
#include <limits>

#include "run/communicates.hpp"
#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"
#include "trainer/reply_parts.hpp"

namespace sinter::detail {
namespace {

/// True if the processes predict together, as each has only its shards of the weights.
bool predict_together(const TrainerCore& trainer) {
  return trainer.settings().world.ranks > 1 && communicates(trainer.plan().prediction.program);
}

/// Joins the sets of all processes. Each in turn tells its own; the others add nothing to that.
void join_sets(TrainerCore& trainer, std::unordered_set<std::uint64_t>& seen) {
  const std::vector<std::uint64_t> own(seen.begin(), seen.end());
  const BatchPart part = trainer.part();
  for (int rank = 0; rank < part.ranks; ++rank) {
    const bool tells = rank == part.rank;
    std::vector<double> numbers(
        std::size_t(trainer.sum_over_processes(tells ? double(own.size()) : 0)));
    if (tells) std::ranges::copy(own, numbers.begin());
    trainer.sum_over_processes(numbers);
    for (const double number : numbers) seen.insert(std::uint64_t(number));
  }
}

}  // namespace

ReplySums::ReplySums(TrainerCore& trainer, const AnySource& data)
    : trainer_(trainer), metrics_(trainer.recipe().metrics) {
  if (!trainer.recipe().scores_replies()) return;
  const std::optional<ReplyWriting> writing = trainer.recipe().writes();
  std::optional<ReplyForm> form = data.replies();
  if (!writing || !form)
    throw ArgumentError(
        "The recipe's metrics of texts score replies, and this source of data does not say what a "
        "reply is. Evaluate on examples, such as EvaluationExamples of an ExampleSet, give the "
        "source a member replies() (sinter/data/reply_form.hpp), or skip the generation "
        "(--skip-generation, RecipeView::skips_generation).");
  writing_ = *writing;
  form_ = *std::move(form);
  needed_ = std::ranges::any_of(metrics_, [](const Metric& m) { return m.add_text; });
  together_ = !trainer.recipe().reply_plan() && predict_together(trainer);
  if (EncodedTexts::are_known(trainer.recipe()) && !trainer.is_observed())
    encoded_.emplace(trainer);
  for (const Metric& metric : metrics_) sums_.emplace_back(metric.text_sums);
  for (const Metric& metric : metrics_)
    if (metric.add_rank) rank_among(metric.candidates);
}

/// Ranks the replies of examples among so many candidates, if that is not yet done.
void ReplySums::rank_among(int candidates) {
  if (ranks_.contains(candidates)) return;
  const bool counts = trainer_.part().rank == 0;  // all processes rank together
  ranks_.try_emplace(candidates, trainer_, candidates, [=, this](const RankedReply& reply) {
    for (std::size_t m = 0; counts && m < metrics_.size(); ++m)
      if (metrics_[m].add_rank && metrics_[m].candidates == candidates)
        metrics_[m].add_rank(reply, sums_[m]);
  });
}

/// Ranks the replies of the first sequences of a batch.
void ReplySums::rank(const HostBatch& batch, int sequences) {
  if (ranks_.empty()) return;
  const bool decodes = is_encoder_decoder(trainer_.plan().predicting);
  for (int s = 0; s < sequences; ++s) {
    const ReplyParts parts = reply_parts(batch, decodes, s);
    if (parts.reply.empty()) continue;
    for (auto& [candidates, ranks] : ranks_) ranks.add(parts);
  }
}

Loss ReplySums::evaluate(const HostBatch& batch) {
  const bool has_wanted = writing_.examples == 0 || seen_ < writing_.examples;
  return encoded_ && has_wanted ? encoded_->evaluate(batch) : trainer_.evaluate(batch);
}

void ReplySums::add(const HostBatch& batch) {
  if (sums_.empty()) return;
  const int sequences = batch.sequences();
  const bool are_shared = together_ || !batch.part.is_whole();
  const BatchPart part = are_shared ? batch.part : trainer_.part();  // one writes each reply
  const std::int64_t wanted =
      writing_.examples == 0 ? sequences : std::max<std::int64_t>(0, writing_.examples - seen_);
  rank(batch, int(std::min<std::int64_t>(sequences, wanted)));
  const int last = needed_ ? int(std::min<std::int64_t>(part.end(sequences), wanted)) : 0;
  for (int s = part.begin(sequences); s < last; ++s) request(batch, s);
  seen_ += sequences;
}

bool ReplySums::write(const std::function<bool()>& goes_on) {
  if (sums_.empty()) return true;
  if (!goes_on())
    return false;  // also where this process has nothing to write, as all are to agree
  if (needed_ && !write_and_score(goes_on)) return false;
  sum_over_processes();
  are_whole_ = true;
  return true;
}

/// Writes the replies and scores them. Returns false if `goes_on` does.
bool ReplySums::write_and_score(const std::function<bool()>& goes_on) {
  std::optional<std::vector<TokensOfReply>> replies;
  try {
    replies = write_replies(trainer_, requests_, writing_, goes_on);
  } catch (...) {
    trainer_.give_up();
    throw;
  }
  if (!replies) return false;
  if (!together_ || trainer_.part().rank == 0)  // else rank 0 counts them
    for (std::size_t k = 0; k < replies->size(); ++k) score((*replies)[k], references_[k]);
  return true;
}

/// Adds a request for a reply to a sequence, unless it predicts nothing.
void ReplySums::request(const HostBatch& batch, int sequence) {
  const bool decodes = is_encoder_decoder(trainer_.plan().predicting);
  const auto [read, before, reference] = reply_parts(batch, decodes, sequence);
  if (reference.empty()) return;
  Prompt prompt{.tokens{before.begin(), before.end()}, .more_ends = form_.ends};
  if (decodes) {
    prompt.decoder.assign(read.begin(), read.end());
    std::swap(prompt.tokens, prompt.decoder);
  }
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t room = trainer_.plan().context + 1 - std::int64_t(before.size());
  const std::int64_t most = std::min({room, writing_.tokens > 0 ? writing_.tokens : no_limit,
                                      form_.most > 0 ? std::int64_t(form_.most) : no_limit});
  const std::int64_t number = seen_ + sequence;
  requests_.push_back({.prompt = std::move(prompt), .most = most, .number = number});
  if (encoded_) requests_.back().encoded = encoded_->take(batch, sequence);
  references_.emplace_back(reference.begin(), reference.end());
}

void ReplySums::score(const TokensOfReply& reply, std::vector<std::int32_t>& reference) {
  if (std::ranges::find(form_.ends, reference.back()) != form_.ends.end()) reference.pop_back();
  const std::string text = form_.text(reply.tokens), right = form_.text(reference);
  const WrittenReply written{.text = text,
                             .references = {&right, 1},
                             .tokens = std::int64_t(reply.tokens.size()) + reply.ended};
  for (std::size_t m = 0; m < metrics_.size(); ++m)
    if (metrics_[m].add_text) metrics_[m].add_text(written, sums_[m]);
}

void ReplySums::sum_over_processes() {
  for (auto& [candidates, ranks] : ranks_) ranks.finish();
  if (trainer_.settings().world.ranks == 1) return;
  for (TextSums& kept : sums_) {
    trainer_.sum_over_processes(kept.sums);
    join_sets(trainer_, kept.seen);
  }
}

double ReplySums::value(std::size_t metric) const {
  return are_whole_ ? metrics_[metric].of_texts(sums_[metric])
                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sinter::detail
