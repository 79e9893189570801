// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/arrays.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

std::int64_t rows_of(std::span<const float> array, int width, const char* name) {
  if (width < 1)
    throw ArgumentError(
        fmt::format("The width of the {} is {}; it must be at least 1.", name, width));
  if (array.empty()) throw ArgumentError(fmt::format("The {} are empty.", name));
  if (array.size() % std::size_t(width) != 0)
    throw ArgumentError(
        fmt::format("The {} have {} numbers, which is no multiple of their width {}.", name,
                    array.size(), width));
  return std::int64_t(array.size()) / width;
}

void require_sequences(int sequences) {
  if (sequences < 1)
    throw ArgumentError(fmt::format("A batch must have at least 1 row, not {}.", sequences));
}

/// Makes the batch the drawn rows, of which it copies those of the drawn part alone.
void fill_all(HostBatch& batch, const BatchDraw& draw, const ArrayRows& data) {
  const bool classes = !data.classes.empty();
  batch.ids.resize(classes ? 1 : 0);
  batch.values.resize(classes ? 1 : 2);
  batch.clear();
  const int rows = int(draw.items.size()), begin = draw.part.begin(rows), end = draw.part.end(rows);
  for (int s = begin; s < end; ++s) data.append(batch, draw.items[std::size_t(s)]);
  batch.starts.clear();
  for (int s = 0; s <= rows; ++s) batch.starts.push_back(s);
  batch.part = draw.part;
  batch.predictions = data.predictions(draw.items);
}

SamplerState start(const ArrayRows& data, const char* order, std::uint64_t seed) {
  return {.order = order,
          .seed = seed,
          .data_size = std::uint64_t(data.rows),
          .data_hash = data.hash()};
}

Permutation shuffle_of(const SamplerState& state) {
  return {state.data_size, Permutation::epoch_key(state.seed, state.epoch)};
}

}  // namespace

namespace detail {
ArrayRows::ArrayRows(std::span<const float> inputs_, int in_, std::span<const float> targets_,
                     int out_)
    : inputs(inputs_), targets(targets_), in(in_), out(out_) {
  rows = rows_of(inputs, in, "inputs");
  if (const auto others = rows_of(targets, out, "targets"); others != rows)
    throw ArgumentError(
        fmt::format("There are {} rows of inputs ({} numbers of width {}) but {} rows "
                    "of targets ({} numbers of width {}); each input needs one "
                    "target.",
                    rows, inputs.size(), in, others, targets.size(), out));
}

ArrayRows::ArrayRows(std::span<const float> inputs_, int in_,
                     std::span<const std::int32_t> classes_)
    : inputs(inputs_), classes(classes_), in(in_), out(0) {
  rows = rows_of(inputs, in, "inputs");
  if (std::int64_t(classes.size()) != rows)
    throw ArgumentError(
        fmt::format("There are {} rows of inputs ({} numbers of width {}) but {} classes; each "
                    "input needs one class.",
                    rows, inputs.size(), in, classes.size()));
}

std::int64_t ArrayRows::predictions(std::span<const std::int64_t> of_rows) const {
  if (classes.empty()) return std::ssize(of_rows) * out;
  return std::ranges::count_if(of_rows,
                               [&](std::int64_t row) { return classes[std::size_t(row)] >= 0; });
}

void ArrayRows::append(HostBatch& batch, std::int64_t row) const {
  auto copy = [row](std::vector<float>& to, std::span<const float> from, int width) {
    const auto first = from.begin() + row * width;
    to.insert(to.end(), first, first + width);
  };
  copy(batch.values[0], inputs, in);
  if (classes.empty())
    copy(batch.values[1], targets, out);
  else
    batch.ids[0].push_back(classes[std::size_t(row)]);
  batch.starts.push_back(batch.starts.back() + 1);
}

std::uint64_t ArrayRows::hash() const {
  const std::uint64_t of_targets = classes.empty()
                                       ? XXH3_64bits(targets.data(), targets.size_bytes())
                                       : XXH3_64bits(classes.data(), classes.size_bytes());
  const std::uint64_t parts[] = {std::uint64_t(in), std::uint64_t(out),
                                 XXH3_64bits(inputs.data(), inputs.size_bytes()), of_targets};
  return XXH3_64bits(parts, sizeof(parts));
}
}  // namespace detail

ArrayData::ArrayData(std::span<const float> inputs, int in, std::span<const float> targets, int out,
                     ArrayOptions options_)
    : ArrayData(ArrayRows(inputs, in, targets, out), std::move(options_)) {}

ArrayData::ArrayData(const ArrayRows& rows, ArrayOptions options_)
    : data(rows),
      options(std::move(options_)),
      now(start(data, options.order == Order::shuffled ? "shuffled rows" : "sequential rows",
                options.seed)),
      shuffle(shuffle_of(now)) {
  require_sequences(options.sequences);
}

bool ArrayData::next(HostBatch& batch) {
  const bool has_rows = draw(drawn);
  fill(drawn, batch);
  return has_rows;
}

std::string ArrayData::end_at(SourceEnd end) {
  now.end = end.items > 0 ? end.items : end.epochs * now.data_size;
  return "";
}

bool ArrayData::draw(BatchDraw& draw) {
  const int rows = items_before_the_end(
      now, options.shapes ? options.shapes(now.items).sequences : options.sequences);
  draw.items.clear();
  for (int s = 0; s < rows; ++s) {
    draw.items.push_back(
        std::int64_t(options.order == Order::shuffled ? shuffle(now.position) : now.position));
    if (++now.position < now.data_size) continue;
    ++now.epoch;
    now.position = 0;
    shuffle = shuffle_of(now);
  }
  now.items += std::uint64_t(rows);
  return rows > 0;
}

void ArrayData::fill(const BatchDraw& draw, HostBatch& batch) const { fill_all(batch, draw, data); }

void ArrayData::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, data.rows - 1, "row", "these arrays");
  now = saved;
  shuffle = shuffle_of(now);
}

EvaluationArrays::EvaluationArrays(std::span<const float> inputs, int in,
                                   std::span<const float> targets, int out, int sequences_)
    : EvaluationArrays(ArrayRows(inputs, in, targets, out), sequences_) {}

EvaluationArrays::EvaluationArrays(const ArrayRows& rows, int sequences_)
    : data(rows), sequences(sequences_), now(start(data, "evaluation rows", 0)) {
  require_sequences(sequences);
}

bool EvaluationArrays::next(HostBatch& batch) {
  const bool has_rows = draw(drawn);
  fill(drawn, batch);
  return has_rows;
}

bool EvaluationArrays::draw(BatchDraw& draw) {
  const auto left = data.rows - std::int64_t(now.position);
  const auto count = std::min<std::int64_t>(sequences, left);
  draw.items.clear();
  for (std::int64_t s = 0; s < count; ++s) draw.items.push_back(std::int64_t(now.position++));
  now.items += std::uint64_t(count);
  return count > 0;
}

void EvaluationArrays::fill(const BatchDraw& draw, HostBatch& batch) const {
  fill_all(batch, draw, data);
}

void EvaluationArrays::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, data.rows, "row", "these arrays");
  now = saved;
}

}  // namespace sinter
