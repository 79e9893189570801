// SPDX-License-Identifier: Apache-2.0
#include "trainer/reply_sums.hpp"

#include <algorithm>
#include <limits>

#include "run/communicates.hpp"
#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"

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

/// The rows of a sequence, of those that the batch holds.
std::span<const std::int32_t> rows_of(const HostBatch& batch, int axis, std::size_t input,
                                      int sequence) {
  const std::vector<std::int32_t>& starts = batch.starts_of(axis);
  const int held = batch.held_rows(axis).begin;
  const int begin = starts[std::size_t(sequence)], end = starts[std::size_t(sequence) + 1];
  return std::span(batch.ids[input]).subspan(std::size_t(begin - held), std::size_t(end - begin));
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
  needed_ = true;
  together_ = !trainer.recipe().reply_plan() && predict_together(trainer);
  for (const Metric& metric : metrics_) sums_.emplace_back(metric.text_sums);
}

void ReplySums::add(const HostBatch& batch) {
  if (!needed_) return;
  const int sequences = batch.sequences();
  const bool are_shared = together_ || !batch.part.is_whole();
  const BatchPart part = are_shared ? batch.part : trainer_.part();  // one writes each reply
  const std::int64_t wanted =
      writing_.examples == 0 ? sequences : std::max<std::int64_t>(0, writing_.examples - seen_);
  const int last = int(std::min<std::int64_t>(part.end(sequences), wanted));
  for (int s = part.begin(sequences); s < last; ++s) request(batch, s);
  seen_ += sequences;
}

bool ReplySums::write(const std::function<bool()>& goes_on) {
  if (!needed_) return true;
  if (!goes_on())
    return false;  // also where this process has nothing to write, as all are to agree
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
  sum_over_processes();
  return true;
}

/// Adds a request for a reply to a sequence, unless it predicts nothing.
void ReplySums::request(const HostBatch& batch, int sequence) {
  const bool decodes = is_encoder_decoder(trainer_.plan().predicting);
  const auto shown = rows_of(batch, 0, decodes ? 1 : 0, sequence);
  const auto targets = rows_of(batch, 0, decodes ? 2 : 1, sequence);
  const auto is_target = [](std::int32_t id) { return id >= 0; };
  std::size_t end = targets.size();
  while (end > 0 && !is_target(targets[end - 1])) --end;
  if (end == 0) return;
  std::size_t begin = end - 1;
  while (begin > 0 && is_target(targets[begin - 1])) --begin;
  const auto before = shown.first(begin + 1);
  Prompt prompt{.tokens{before.begin(), before.end()}, .more_ends = form_.ends};
  if (decodes) {
    const auto read = rows_of(batch, 1, 0, sequence);
    prompt.decoder.assign(read.begin(), read.end());
    std::swap(prompt.tokens, prompt.decoder);
  }
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  const std::int64_t room = trainer_.plan().context + 1 - std::int64_t(before.size());
  const std::int64_t most = std::min({room, writing_.tokens > 0 ? writing_.tokens : no_limit,
                                      form_.most > 0 ? std::int64_t(form_.most) : no_limit});
  const std::int64_t number = seen_ + sequence;
  requests_.push_back({.prompt = std::move(prompt), .most = most, .number = number});
  const auto reference = targets.subspan(begin, end - begin);
  references_.emplace_back(reference.begin(), reference.end());
}

void ReplySums::score(const TokensOfReply& reply, std::vector<std::int32_t>& reference) {
  if (std::ranges::find(form_.ends, reference.back()) != form_.ends.end()) reference.pop_back();
  const std::string text = form_.text(reply.tokens), right = form_.text(reference);
  const WrittenReply written{.text = text,
                             .references = {&right, 1},
                             .tokens = std::int64_t(reply.tokens.size()) + reply.ended};
  for (std::size_t m = 0; m < metrics_.size(); ++m)
    if (metrics_[m].is_of_texts()) metrics_[m].add_text(written, sums_[m]);
}

void ReplySums::sum_over_processes() {
  if (trainer_.settings().world.ranks == 1) return;
  for (TextSums& kept : sums_) {
    trainer_.sum_over_processes(kept.sums);
    join_sets(trainer_, kept.seen);
  }
}

double ReplySums::value(std::size_t metric) const {
  return metrics_[metric].of_texts(sums_[metric]);
}

}  // namespace sinter::detail
