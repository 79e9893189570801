// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/chat_set.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

bool is_learnt(std::int32_t token) { return token < 0; }
std::int32_t id_of(std::int32_t token) { return is_learnt(token) ? ~token : token; }

}  // namespace

ChatSet::ChatSet(Tokenizer t, int c)
    : tokenizer(std::move(t)), marks(marks_of(tokenizer)), context(c) {
  if (context < 1)
    throw ArgumentError(
        fmt::format("Conversations need a context of at least 1 token; given was {}.", context));
}

void ChatSet::add(const ChatTokens& chat) {
  if (chat.ids.size() != chat.learnt.size())
    throw ArgumentError(fmt::format(
        "A conversation has {} tokens, and for {} it is said whether they are learnt; give one for "
        "each.",
        chat.ids.size(), chat.learnt.size()));
  if (record_count == std::numeric_limits<std::int32_t>::max())
    throw ArgumentError("There are more than 2^31 - 1 conversations. Use fewer data.");
  const std::size_t whole = chat.rows(chat.ids.size()), kept = chat.rows(std::size_t(context) + 1);
  if (kept == 0) {
    ++all.silent;
    ++record_count;
    return;
  }
  Example example{.begin = std::int64_t(tokens.size()),
                  .rows = std::int32_t(kept),
                  .learnt = 0,
                  .record = std::int32_t(record_count),
                  .is_cut = kept < whole};
  for (std::size_t k = 0; k <= kept; ++k) {
    const bool learnt = k > 0 && chat.learnt[k];
    tokens.push_back(learnt ? ~chat.ids[k] : chat.ids[k]);
    example.learnt += learnt;
  }
  if (kept < whole) {
    const auto first = chat.learnt.begin() + 1;
    const auto learnt = std::int32_t(std::count(first, first + std::ptrdiff_t(whole), true));
    full.add(size(), {std::int32_t(whole) - learnt, learnt});
  }
  if (chat.end >= 0 && std::ranges::find(ends, chat.end) == ends.end()) ends.push_back(chat.end);
  examples.push_back(example);
  ++record_count;
  all.rows += example.rows;
  all.learnt += example.learnt;
  all.cut += example.is_cut;
  all.longest = std::max(all.longest, example.rows);
}

std::int64_t ChatSet::examples_of(std::int64_t count) const {
  return std::ranges::lower_bound(examples, count, {}, &Example::record) - examples.begin();
}

ExampleLength ChatSet::length(std::int64_t number) const {
  const Example& example = examples[std::size_t(number)];
  return {example.rows - example.learnt, example.learnt};
}

/// Appends the rows without their content. Returns the tokens of those that are taken, and the one
/// behind them.
std::span<const std::int32_t> ChatSet::append_rows(HostBatch& batch, std::int64_t number, int most,
                                                   int padded) const {
  const Example& example = examples[std::size_t(number)];
  const int taken = std::min(example.rows, most), more = std::max(0, padded - taken);
  const auto shown = std::span(tokens).subspan(std::size_t(example.begin + example.rows - taken),
                                               std::size_t(taken) + 1);
  const auto learnt = std::int32_t(std::ranges::count_if(shown.subspan(1), is_learnt));
  batch.starts.push_back(batch.starts.back() + taken + more);
  batch.count(counts_of(full.of(number, length(number)), {taken - learnt, learnt}, more));
  return shown;
}

void ChatSet::append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const {
  append_rows(batch, number, most, padded);
}

void ChatSet::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const auto shown = append_rows(batch, number, most, padded);
  std::vector<std::int32_t>&ids = batch.ids[0], &targets = batch.ids[1];
  for (std::size_t k = 0; k + 1 < shown.size(); ++k) {
    ids.push_back(id_of(shown[k]));
    targets.push_back(is_learnt(shown[k + 1]) ? id_of(shown[k + 1]) : -1);
  }
  const std::size_t more = std::size_t(std::max(0, padded - int(shown.size()) + 1));
  ids.insert(ids.end(), more, marks.pad);
  targets.insert(targets.end(), more, -1);
}

std::vector<SpecialToken> ChatSet::special() const {
  std::vector<SpecialToken> all_special = tokenizer.special;
  all_special.push_back({"__end__", marks.end});
  return all_special;
}

std::optional<ReplyForm> ChatSet::replies() const { return reply_form(tokenizer, ends, 0); }

std::uint64_t ChatSet::hash() const {
  static_assert(sizeof(Example) == 24, "it is hashed as it lies, without padding");
  const std::uint64_t parts[] = {XXH3_64bits(tokens.data(), tokens.size() * sizeof(tokens[0])),
                                 XXH3_64bits(examples.data(), examples.size() * sizeof(Example))};
  return XXH3_64bits(parts, sizeof(parts));
}

}  // namespace sinter
