// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/windows.hpp"

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

void require_shape(WindowShape shape) {
  if (shape.context < 1 || shape.sequences < 1)
    throw ArgumentError(
        fmt::format("A batch of windows needs a context and a number of sequences "
                    "of at least 1; given were {} and {}.",
                    shape.context, shape.sequences));
  if (std::int64_t{shape.context} * shape.sequences > std::numeric_limits<std::int32_t>::max())
    throw ArgumentError(
        fmt::format("A batch of {} windows of {} tokens has more than 2^31 - 1 "
                    "rows. Use fewer sequences per batch.",
                    shape.sequences, shape.context));
}

void require_tokens(const TokenView& tokens, std::int64_t needed, const std::string& what) {
  if (tokens.size() < needed)
    throw ArgumentError(
        fmt::format("The text is too short: it has {} {}, but {} needs {}. Give more "
                    "text, or a smaller context or batch.",
                    tokens.size(), tokens.unit(), what, needed));
}

SamplerState start(const TokenView& tokens, WindowShape shape, const char* order,
                   std::uint64_t seed = 0) {
  return {.order = order,
          .seed = seed,
          .context = std::uint64_t(shape.context),
          .data_size = std::uint64_t(tokens.size()),
          .data_hash = tokens.hash()};
}

/// The shape of the next batch.
BatchShape next_shape(const BatchShapes& shapes, const SamplerState& now, WindowShape whole) {
  return shapes ? shapes(now.items) : BatchShape{whole.sequences, whole.context};
}

/// Makes the batch the windows that start at the drawn tokens, of which the last may be short. Reads
/// those of the drawn part alone. Drops other inputs of the batch.
void fill_all(HostBatch& batch, const BatchDraw& draw, const TokenView& tokens) {
  const int sequences = int(draw.items.size());
  batch.starts.assign(1, 0);
  for (const std::int64_t begin : draw.items)
    batch.starts.push_back(batch.starts.back() + std::int32_t(std::min<std::int64_t>(
                                                     draw.length, tokens.size() - 1 - begin)));
  batch.second_starts.clear();
  batch.second_lengths.clear();
  batch.values.clear();
  batch.examples.reset();
  batch.keys = draw.keys;
  batch.part = draw.part;
  batch.predictions = batch.rows();
  const HostBatch::Rows held = batch.held_rows(0);
  batch.ids.resize(2);
  for (auto& e : batch.ids) e.resize(std::size_t(held.count()));
  for (int s = draw.part.begin(sequences); s < draw.part.end(sequences); ++s) {
    const auto first = std::size_t(batch.starts[s] - held.begin);
    const auto length = std::size_t(batch.starts[s + 1] - batch.starts[s]);
    const std::int64_t begin = draw.items[std::size_t(s)];
    tokens.read(begin, std::span(batch.ids[0]).subspan(first, length));
    tokens.read(begin + 1, std::span(batch.ids[1]).subspan(first, length));
  }
}

/// Says what an epoch of so many windows is, and what it leaves out of a text.
std::string left_out(const TokenView& tokens, std::int64_t windows, int context) {
  const std::int64_t left = tokens.size() - 1 - windows * context;
  std::string text =
      fmt::format("an epoch is {} windows of {} {}", windows, context, tokens.unit());
  if (left > 0) text += fmt::format(", and leaves out {} that fill no window", left);
  return text;
}

/// Draws a batch and makes it. Where that fails, the source stands where it stood before.
bool draw_and_fill(auto& source, SamplerState& now, BatchDraw& drawn, HostBatch& batch) {
  const SamplerState before = now;
  if (!source.draw(drawn)) {
    batch.clear();
    return false;
  }
  try {
    source.fill(drawn, batch);
  } catch (...) {
    now = before;
    throw;
  }
  return true;
}

}  // namespace

namespace detail {
std::int64_t whole_windows(std::int64_t tokens, int context) {
  return tokens < 1 ? 0 : (tokens - 1) / context;
}
}  // namespace detail

SequentialWindows::SequentialWindows(TokenView tokens_, WindowShape shape_, BatchShapes shapes_)
    : tokens(tokens_), shape(shape_), shapes(std::move(shapes_)) {
  require_shape(shape);
  require_tokens(
      tokens, std::int64_t{shape.sequences} * shape.context + 1,
      fmt::format("a batch of {} windows of context {}", shape.sequences, shape.context));
  windows = whole_windows(tokens.size(), shape.context);
  now = start(tokens, shape, "sequential");
}

bool SequentialWindows::next(HostBatch& batch) { return draw_and_fill(*this, now, drawn, batch); }

std::string SequentialWindows::end_at(SourceEnd end) {
  if (shapes)
    throw ArgumentError(
        "Windows in their order cannot end exactly after epochs or examples where batches change "
        "their size: an epoch drops those that fill no batch. Give the number of steps, or shuffle "
        "the windows.");
  const auto each = std::uint64_t(batches_per_epoch() * shape.sequences);
  now.end = end.items > 0 ? end.items : end.epochs * each;
  return left_out(tokens, std::int64_t(each), shape.context);
}

bool SequentialWindows::draw(BatchDraw& draw) {
  const auto [whole, length] = next_shape(shapes, now, shape);
  const int sequences = items_before_the_end(now, whole);
  draw.length = length;
  draw.items.clear();
  draw.keys.clear();
  for (int s = 0; s < sequences; ++s) {
    const std::int64_t window = std::int64_t(now.position) + s;
    draw.items.push_back(window * shape.context);
    draw.keys.push_back(Permutation::item_key(now.seed, now.epoch, std::uint64_t(window)));
  }
  now.position += std::uint64_t(sequences);
  now.items += std::uint64_t(sequences);
  restart_at_end();
  return sequences > 0;
}

void SequentialWindows::fill(const BatchDraw& draw, HostBatch& batch) const {
  fill_all(batch, draw, tokens);
}

/// Goes back to window 0 where the next batch no longer fits.
void SequentialWindows::restart_at_end() {
  if (std::int64_t(now.position) + next_shape(shapes, now, shape).sequences <= windows) return;
  ++now.epoch;
  now.position = 0;
}

void SequentialWindows::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, windows, "window", "this text");
  now = saved;
  restart_at_end();  // it may have been saved with a smaller batch
}

ShuffledWindows::ShuffledWindows(TokenView tokens_, WindowShape shape_, std::uint64_t seed,
                                 BatchShapes shapes_)
    : tokens(tokens_), shape(shape_), shapes(std::move(shapes_)), epoch{0, {1, 0}} {
  require_shape(shape);
  require_tokens(tokens, std::int64_t{shape.context} + 1,
                 fmt::format("one window of context {}", shape.context));
  now = start(tokens, shape, "shuffled", seed);
  epoch = epoch_of(now);
}

ShuffledWindows::Epoch ShuffledWindows::epoch_of(const SamplerState& state) const {
  const std::uint64_t key = Permutation::epoch_key(state.seed, state.epoch);
  // A text of little more than one window has room for fewer phases.
  const auto phases = std::min<std::int64_t>(shape.context, tokens.size() - shape.context);
  const auto phase = std::int64_t(Permutation::draw(key, std::uint64_t(phases)));
  return {phase, {std::uint64_t(whole_windows(tokens.size() - phase, shape.context)), key}};
}

bool ShuffledWindows::next(HostBatch& batch) {
  const std::pair before(now, epoch);
  if (!draw(drawn)) {
    batch.clear();
    return false;
  }
  try {
    fill(drawn, batch);
  } catch (...) {
    std::tie(now, epoch) = before;
    throw;
  }
  return true;
}

std::string ShuffledWindows::end_at(SourceEnd end) {
  now.end = end.items;
  SamplerState one = now;
  for (one.epoch = 0; one.epoch < end.epochs; ++one.epoch) now.end += epoch_of(one).order.size();
  one.epoch = 0;
  return left_out(tokens, std::int64_t(epoch_of(one).order.size()), shape.context);
}

bool ShuffledWindows::draw(BatchDraw& draw) {
  const auto [whole, length] = next_shape(shapes, now, shape);
  const int sequences = items_before_the_end(now, whole);
  draw.length = length;
  draw.items.clear();
  draw.keys.clear();
  for (int s = 0; s < sequences; ++s) {
    const auto window = std::int64_t(epoch.order(now.position));
    draw.items.push_back(epoch.first_token + window * shape.context);
    draw.keys.push_back(Permutation::item_key(now.seed, now.epoch, std::uint64_t(window)));
    if (++now.position < epoch.order.size()) continue;
    ++now.epoch;
    now.position = 0;
    epoch = epoch_of(now);
  }
  now.items += std::uint64_t(sequences);
  return sequences > 0;
}

void ShuffledWindows::fill(const BatchDraw& draw, HostBatch& batch) const {
  fill_all(batch, draw, tokens);
}

void ShuffledWindows::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  const Epoch there = epoch_of(saved);
  require_position(saved, std::int64_t(there.order.size()) - 1, "window", "this text");
  now = saved;
  epoch = there;
}

EvaluationWindows::EvaluationWindows(TokenView tokens_, WindowShape shape_)
    : tokens(tokens_), shape(shape_) {
  require_shape(shape);
  require_tokens(tokens, 2, "one prediction");
  now = start(tokens, shape, "evaluation");
}

std::int64_t EvaluationWindows::windows() const {
  return (predicted() + shape.context - 1) / shape.context;
}

bool EvaluationWindows::next(HostBatch& batch) { return draw_and_fill(*this, now, drawn, batch); }

bool EvaluationWindows::draw(BatchDraw& draw) {
  const std::int64_t first = std::int64_t(now.position);
  const auto sequences = std::min<std::int64_t>(shape.sequences, windows() - first);
  draw.length = shape.context;
  draw.items.clear();
  draw.keys.clear();
  for (std::int64_t window = first; window < first + sequences; ++window) {
    draw.items.push_back(window * shape.context);
    draw.keys.push_back(Permutation::item_key(now.seed, now.epoch, std::uint64_t(window)));
  }
  now.position += std::uint64_t(sequences);
  now.items += std::uint64_t(sequences);
  return sequences > 0;
}

void EvaluationWindows::fill(const BatchDraw& draw, HostBatch& batch) const {
  fill_all(batch, draw, tokens);
}

void EvaluationWindows::restore(const SamplerState& saved) {
  require_same_data(saved, now);
  require_position(saved, windows(), "window", "this text");
  now = saved;
}

}  // namespace sinter
