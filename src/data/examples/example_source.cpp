// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

void require_fit(const ExampleList& set, ExampleRange range, int sequences) {
  if (range.first < 0 || range.count < 1 || range.first + range.count > set.size())
    throw ArgumentError(
        fmt::format("There must be at least 1 example, and {} from number {} on are asked for of "
                    "{}.",
                    range.count, range.first, set.size()));
  if (sequences < 1)
    throw ArgumentError(fmt::format("A batch must have at least 1 example, not {}.", sequences));
  const int most = std::max(set.max_rows(), set.max_second_rows());
  if (std::int64_t{sequences} * most > std::numeric_limits<std::int32_t>::max())
    throw ArgumentError(
        fmt::format("A batch of {} examples of up to {} rows may have more than 2^31 - 1 rows. Use "
                    "fewer sequences per batch.",
                    sequences, most));
}

SamplerState start(const ExampleList& set, ExampleRange range, std::string order,
                   std::uint64_t seed = 0) {
  return {.order = std::move(order),
          .seed = seed,
          .context = std::uint64_t(set.max_rows()) + std::uint64_t(set.max_second_rows()),
          .data_size = std::uint64_t(range.count),
          .data_hash = set.hash()};
}

/// Puts drawn examples into a batch, one after the other, with the content of those of the drawn part.
class Filling {
 public:
  Filling(const ExampleList& s, const BatchDraw& draw, HostBatch& b)
      : set(s), batch(b), length(draw.length) {
    const int sequences = int(draw.items.size());
    begin = draw.part.begin(sequences);
    end = draw.part.end(sequences);
    batch.ids.resize(std::size_t(set.inputs()));
    batch.values.resize(std::size_t(set.values()));
    batch.clear();
    batch.keys = draw.keys;
    batch.part = draw.part;
  }

  void add(std::int64_t number, PaddedTo padded) {
    const bool with_content = next >= begin && next < end;
    if (with_content)
      set.append(batch, number, length, padded.rows);
    else
      set.append_empty(batch, number, length, padded.rows);
    if (padded.second_rows > 0) pad_second_axis(padded.second_rows, with_content);
    ++next;
  }
  /// Says how much the whole batch predicts.
  void count_predictions() {
    if (batch.examples) batch.predictions = batch.examples->label;
  }

 private:
  const ExampleList& set;
  HostBatch& batch;
  int length, begin, end, next = 0;

  /// Fills the last sequence on axis 1 up to `rows` rows.
  void pad_second_axis(int rows, bool with_content) {
    std::vector<std::int32_t>& starts = batch.second_starts;
    const int own = starts.back() - starts[starts.size() - 2], padding = rows - own;
    batch.second_lengths.push_back(own);
    starts.back() += padding;
    batch.count({.padding = padding});
    if (with_content) set.append_second_padding(batch, padding);
  }
};

/// Sorts the examples of each batch by what their context and then their label are padded to, the longest
/// first, so that neighbours, which are padded together, have similar lengths on both axes.
void sort_on_both_axes(Arrangement& arrangement, std::span<const ExampleLength> lengths) {
  const auto key = [&](std::uint32_t number) {
    const ExampleLength& one = lengths[number];
    return std::tuple(-padded_to_8(one.context), -padded_to_8(one.label), number);
  };
  std::uint32_t begin = 0;
  for (std::uint32_t end : arrangement.ends) {
    std::ranges::sort(arrangement.order.begin() + begin, arrangement.order.begin() + end, {}, key);
    begin = end;
  }
}

}  // namespace

void ExampleList::append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const {
  HostBatch one;
  one.ids.resize(batch.ids.size());
  one.values.resize(batch.values.size());
  append(one, number, most, padded);
  batch.starts.push_back(batch.starts.back() + one.rows());
  if (!one.second_starts.empty()) {
    if (batch.second_starts.empty()) batch.second_starts.push_back(0);
    batch.second_starts.push_back(batch.second_starts.back() + one.second_starts.back());
  }
  if (one.examples) batch.count(*one.examples);
}

int ExampleList::second_limit(int most) const {
  const int all = max_rows();
  return int((std::int64_t{std::min(most, all)} * max_second_rows() + all - 1) / all);
}

int ExampleList::second_rows(std::int64_t number, int most) const {
  if (max_second_rows() == 0) return 0;
  HostBatch one;
  one.ids.resize(std::size_t(inputs()));
  one.values.resize(std::size_t(values()));
  append(one, number, most, 0);
  return one.rows_of(1);
}

void ExampleList::append_second_padding(HostBatch&, int) const {
  if (max_second_rows() > 0)
    throw Error(
        "These examples have rows on axis 1, and their ExampleList does not say how to pad them. "
        "Write its append_second_padding(), or choose the batching Packed.");
}

ExampleBatches::ExampleBatches(const ExampleList& s, ExampleRange r, ExampleBatchOptions o)
    : set(&s), range(r), options(std::move(o)) {
  require_fit(s, range, options.sequences);
  if (options.least < 1 || options.least > options.sequences)
    throw ArgumentError(fmt::format(
        "A batch of at most {} examples must have at least 1, and no more than that; asked for "
        "are at least {}.",
        options.sequences, options.least));
  const bool shuffled = options.order == Order::shuffled;
  if (options.batching.arrange && !shuffled)
    throw ArgumentError(
        "Batches that are put together by length are shuffled, and --order sequential was asked "
        "for. Leave --order out, or choose the batching Packed or Padded.");
  // Older versions padded and sorted by axis 0 alone. Their runs could not go on with the same bits, so they
  // do not.
  const bool pairs = s.max_second_rows() > 0;
  now = start(s, range,
              (shuffled ? "shuffled examples" : "sequential examples") + options.batching.order +
                  (pairs && options.batching.pads ? ", padded on both axes" : "") +
                  (pairs && options.batching.arrange ? ", sorted on both axes" : ""),
              options.seed);
  if (options.batching.arrange)
    for (std::int64_t k = 0; k < range.count; ++k) lengths.push_back(s.length(range.first + k));
  draw_epoch();
}

void ExampleBatches::draw_epoch() {
  const std::uint64_t key = Permutation::epoch_key(now.seed, now.epoch);
  if (options.batching.arrange) {
    arrangement = options.batching.arrange(lengths, key);
    if (set->max_second_rows() > 0) sort_on_both_axes(arrangement, lengths);
  } else {
    shuffle = {now.data_size, key};
  }
}

std::int64_t ExampleBatches::example_at(std::uint64_t position) const {
  if (options.batching.arrange) return range.first + arrangement.order[position];
  if (options.order == Order::shuffled) position = shuffle(position);
  return range.first + std::int64_t(position);
}

/// Where the batch ends that begins at `position`, of at most so many sequences. It may be beyond
/// the epoch's end.
std::uint64_t ExampleBatches::batch_end(std::uint64_t position, std::uint64_t sequences) const {
  if (!options.batching.arrange) return position + sequences;
  const auto& ends = arrangement.ends;
  const std::uint64_t end = *std::ranges::upper_bound(ends, position);
  return std::max(position + std::uint64_t(options.least), std::min(end, position + sequences));
}

/// What the examples of a part of a batch are padded to, where it cuts them to `most` rows on axis 0.
PaddedTo ExampleBatches::padded_to(std::span<const std::int64_t> part, int most) const {
  if (!options.batching.pads) return {};
  PaddedTo longest;
  for (std::int64_t number : part) {
    longest.rows = std::max(longest.rows, set->rows(number));
    longest.second_rows = std::max(longest.second_rows, set->second_rows(number, most));
  }
  return {std::min(padded_to_8(longest.rows), most),
          std::min(padded_to_8(longest.second_rows), set->second_limit(most))};
}

/// Calls `take` with those of a batch that are padded together, and then with the next ones.
void ExampleBatches::each_part(std::span<const std::int64_t> numbers, auto&& take) const {
  const int together = options.batching.padded_together;
  const std::size_t most = together > 0 ? std::size_t(together) : numbers.size();
  for (std::size_t begin = 0; begin < numbers.size(); begin += most)
    take(numbers.subspan(begin, std::min(most, numbers.size() - begin)));
}

bool ExampleBatches::next(HostBatch& batch) {
  const bool has_examples = draw(drawn);
  fill(drawn, batch);
  return has_examples;
}

std::string ExampleBatches::end_at(SourceEnd end) {
  now.end = end.items > 0 ? end.items : end.epochs * now.data_size;
  return "";
}

bool ExampleBatches::draw(BatchDraw& draw) {
  const BatchShape shape =
      options.shapes ? options.shapes(now.items) : BatchShape{options.sequences, set->max_rows()};
  const std::uint64_t whole =
      batch_end(now.position, std::uint64_t(shape.sequences)) - now.position;
  const auto count = std::uint64_t(items_before_the_end(now, int(whole)));
  draw.items.clear();
  draw.keys.clear();
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::int64_t number = example_at(now.position);
    draw.items.push_back(number);
    draw.keys.push_back(
        Permutation::item_key(now.seed, now.epoch, std::uint64_t(number - range.first)));
    if (++now.position < now.data_size) continue;
    ++now.epoch;
    now.position = 0;
    draw_epoch();
  }
  now.items += count;
  draw.length = shape.length;
  return count > 0;
}

void ExampleBatches::fill(const BatchDraw& draw, HostBatch& batch) const {
  Filling filling(*set, draw, batch);
  each_part(draw.items, [&](std::span<const std::int64_t> part) {
    const PaddedTo padded = padded_to(part, draw.length);
    for (std::int64_t number : part) filling.add(number, padded);
  });
  filling.count_predictions();
}

void ExampleBatches::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, range.count - 1, "example", "these data");
  now = saved;
  draw_epoch();
}

double ExampleBatches::padding() const {
  if (!options.batching.pads) return 0;
  std::int64_t rows = 0, padding = 0;
  std::vector<std::int64_t> numbers;
  for (std::uint64_t begin = 0; begin < now.data_size;) {
    const std::uint64_t end =
        std::min(batch_end(begin, std::uint64_t(options.sequences)), now.data_size);
    numbers.clear();
    for (; begin < end; ++begin) {
      numbers.push_back(example_at(begin));
      rows += set->length(numbers.back()).rows();
    }
    each_part(numbers, [&](std::span<const std::int64_t> part) {
      const int most = set->max_rows();
      const PaddedTo padded = padded_to(part, most);
      for (std::int64_t number : part)
        padding +=
            padded.rows - set->rows(number) + padded.second_rows - set->second_rows(number, most);
    });
  }
  return double(padding) / double(rows + padding);
}

EvaluationExamples::EvaluationExamples(const ExampleList& s, ExampleRange r, int n)
    : set(&s), range(r), sequences(n) {
  require_fit(s, range, sequences);
  now = start(s, range, "evaluation examples");
}

bool EvaluationExamples::next(HostBatch& batch) {
  const bool has_examples = draw(drawn);
  fill(drawn, batch);
  return has_examples;
}

bool EvaluationExamples::draw(BatchDraw& draw) {
  const auto left = range.count - std::int64_t(now.position);
  const auto count = std::min<std::int64_t>(sequences, left);
  draw.length = set->max_rows();
  draw.items.clear();
  draw.keys.clear();
  for (std::int64_t k = 0; k < count; ++k) {
    draw.keys.push_back(Permutation::item_key(now.seed, now.epoch, now.position));
    draw.items.push_back(range.first + std::int64_t(now.position++));
  }
  now.items += std::uint64_t(count);
  return count > 0;
}

void EvaluationExamples::fill(const BatchDraw& draw, HostBatch& batch) const {
  Filling filling(*set, draw, batch);
  for (std::int64_t number : draw.items) filling.add(number, {});
  filling.count_predictions();
}

void EvaluationExamples::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, range.count, "example", "these data");
  now = saved;
}

}  // namespace sinter
