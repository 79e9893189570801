// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "generate/generator_row.hpp"
#include "generate/prompts.hpp"
#include "run/encoder.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {
using namespace detail;

/// What extend() works with, kept from token to token.
struct GeneratorCore::Buffers {
  bool decodes = false;                // beside an encoder
  int limit = 0, limit_written = 0;    // of ids that are read first, and of those of a text
  std::vector<Row> next;               // the children; between calls only memory
  std::vector<ExtendedRow> before;     // the rows that are extended
  std::vector<int> text_slots;         // of these
  std::vector<int> children, slots;    // numbers of children; free slots of a text
  std::vector<char> has, is_kept;      // whether a row has a slot, and a slot is kept
  std::vector<char> branched, parted;  // by slot: if its row reads others, now and before
  HostBatch batch;
  std::vector<std::int32_t> rows, rows_slots, other_rows, other_slots, sources;
  // The results of the last decode, while no other program runs: logits of the first rows.
  std::optional<OnHost> shown{};
  int shown_rows = 0, shown_columns = 0;
};

namespace {

void check_ids(int limit, std::span<const std::int32_t> tokens) {
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= limit)
      throw ArgumentError(
          fmt::format("token {} is none of the model's: they are in [0, {}).", token, limit));
}

}  // namespace

GeneratorCore::GeneratorCore(std::shared_ptr<RecipeView> recipe, TrainerSettings settings)
    : trainer_(std::move(recipe), std::move(settings)),
      is_taken_(std::size_t(plan().max_texts), 0),
      logits_(std::size_t(plan().max_texts) * std::size_t(plan().vocabulary)),
      buffers_(std::make_unique<Buffers>()),
      max_rows_(plan().max_texts) {
  const Model& model = plan().predicting;
  buffers_->decodes = is_encoder_decoder(model);
  buffers_->limit = id_limit(model, 0);
  buffers_->limit_written = id_limit(model, buffers_->decodes ? 1 : 0);
  buffers_->branched.assign(is_taken_.size(), 0);
}

GeneratorCore::~GeneratorCore() = default;

std::string GeneratorCore::load_weights(const std::filesystem::path& path, std::string_view state) {
  return trainer_.load_weights(path, state);
}

void GeneratorCore::limit_rows(int rows) {
  if (rows < 1 || rows > plan().max_texts)
    throw ArgumentError(
        fmt::format("{} rows of texts at once; the recipe plans 1 to {}. Build it with more: "
                    "Generation<{{.rows = {}}}>.",
                    rows, plan().max_texts, std::max(rows, 1)));
  max_rows_ = rows;
}

GenerationRequest GeneratorCore::request(Prompt prompt) const {
  return request_by(trainer_.recipe().sampling, std::move(prompt));
}

int GeneratorCore::rows() const { return int(rows_.size()); }

void GeneratorCore::clear() {
  rows_.clear();
  read_ = buffers_->shown_rows = 0;
  std::ranges::fill(is_taken_, 0);
}

std::span<float> GeneratorCore::logits(int row) {
  read_added();
  return kept_logits(row);
}

/// Where the logits of a row lie.
std::span<float> GeneratorCore::kept_logits(int row) {
  const auto vocabulary = std::size_t(plan().vocabulary);
  const Buffers& b = *buffers_;
  if (row < b.shown_rows)
    return {b.shown->as<float>() + std::int64_t(row) * b.shown_columns, vocabulary};
  return std::span(logits_).subspan(std::size_t(row) * vocabulary, vocabulary);
}

/// Copies the logits of a program's last `count` results to rows from `row` on.
void GeneratorCore::keep_logits(int row, int count) {
  int rows = 0, columns = 0;
  const OnHost values = trainer_.machine().result(0, rows, columns);
  const Model& model = plan().predicting;
  const Element element = model.sizes.element[int(model.local(model.results[0]).type)];
  with_element(element, [&]<class T>(T) {
    const T* from = values.as<T>();
    for (int k = 0; k < count; ++k)
      std::copy_n(from + std::int64_t(k) * columns, plan().vocabulary, kept_logits(row + k).data());
  });
}

/// Shows the logits of the first `count` rows where the last program wrote them, or keeps a copy if they
/// have another type. Other programs overwrite them.
void GeneratorCore::show_logits(int count) {
  const Model& model = plan().predicting;
  if (model.sizes.element[int(model.local(model.results[0]).type)] != Element::f32)
    return keep_logits(0, count);
  Buffers& b = *buffers_;
  int rows = 0;
  b.shown.emplace(trainer_.machine().result(0, rows, b.shown_columns));
  b.shown_rows = count;
}

/// Keeps a copy of the logits that are shown, before another program runs.
void GeneratorCore::keep_shown_logits() {
  Buffers& b = *buffers_;
  const int count = std::exchange(b.shown_rows, 0);
  for (int row = 0; row < count; ++row)
    std::copy_n(b.shown->as<float>() + std::int64_t(row) * b.shown_columns, plan().vocabulary,
                kept_logits(row).data());
}

void GeneratorCore::add(const Prompt& prompt, int hypotheses) {
  check_prompt(plan(), prompt);
  check_ids(buffers_->limit, prompt.tokens);
  check_ids(buffers_->limit_written, prompt.decoder);
  if (hypotheses < 1)
    throw ArgumentError(fmt::format("{} hypotheses of a text; it has at least one.", hypotheses));
  Row row;
  row.text = texts_;
  row.kept = hypotheses;
  for (int slot = 0; slot < max_rows() && int(row.free.size()) < hypotheses; ++slot)
    if (!is_taken_[std::size_t(slot)]) row.free.push_back(slot);
  if (int(row.free.size()) < hypotheses)
    throw ArgumentError(fmt::format(
        "a text with {} rows, and {} of the generator's {} are free. Wait until others end, or "
        "build the recipe with more: Generation<{{.rows = N}}>.",
        hypotheses, row.free.size(), max_rows()));
  for (const int slot : row.free) {
    is_taken_[std::size_t(slot)] = 1;
    buffers_->branched[std::size_t(slot)] = 0;
  }
  row.slot = row.other_slot = row.free.front();
  row.free.erase(row.free.begin());
  row.tokens = continued(prompt);
  const std::span<const std::int32_t> source = source_of(prompt);
  row.other.assign(source.begin(), source.end());
  ++texts_;
  rows_.push_back(std::move(row));
}

void GeneratorCore::add_encoded(const Prompt& prompt, int hypotheses,
                                std::span<const std::byte> encoded) {
  const Model& model = plan().predicting;
  const bool has_one = encoded_value(model) >= 0;
  const std::size_t row = has_one ? std::size_t(encoded_row_bytes(model)) : 0;
  if (!has_one || encoded.size() != prompt.tokens.size() * row)
    throw ArgumentError(fmt::format(
        "{} bytes of what an encoder gives; {} tokens take {} bytes each. Give those of "
        "this model's encoder, or add the text without them.",
        encoded.size(), prompt.tokens.size(), row));
  add(prompt, hypotheses);
  rows_.back().encoded = encoded;
}

/// Makes the children of rows, which have the slots of their parents. The rows are no longer of use.
void GeneratorCore::make_children(std::span<const int> parents,
                                  std::span<const std::int32_t> tokens) {
  Buffers& b = *buffers_;
  b.before.clear();
  b.text_slots.clear();
  for (const Row& row : rows_) {
    b.before.push_back({row.text, row.kept, row.length});
    b.text_slots.push_back(row.slot);
  }
  check_extension(plan(), b.before, parents, tokens);
  check_ids(b.limit_written, tokens);
  b.children.assign(rows_.size(), 0);
  for (const int parent : parents) ++b.children[std::size_t(parent)];
  b.next.resize(parents.size());
  const auto reserve = [&](Row& row, int kept) {
    row.free.reserve(std::size_t(kept));
    row.tokens.reserve(std::size_t(plan().context) + 1);
    row.sources.reserve(std::size_t(plan().context));
  };
  for (std::size_t k = 0; k < parents.size(); ++k) {
    Row &child = b.next[k], &parent = rows_[std::size_t(parents[k])];
    reserve(child, parent.kept);
    if (--b.children[std::size_t(parents[k])] > 0) {
      child = parent;  // into the memory that it has
    } else {
      std::swap(child, parent);
      reserve(child, child.kept);
    }
  }
}

/// Gives each child a slot of its text: that of its parent to one child, free ones to others.
void GeneratorCore::give_slots() {
  Buffers& b = *buffers_;
  std::vector<Row>& rows = b.next;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].text == rows[first].text) ++last;
    b.slots.assign(rows[first].free.begin(), rows[first].free.end());  // of the text
    for (std::size_t k = 0; k < b.before.size(); ++k)
      if (b.before[k].text == rows[first].text) b.slots.push_back(b.text_slots[k]);
    b.has.assign(last - first, 0);
    for (std::size_t k = first; k < last; ++k)
      b.has[k - first] = char(std::erase(b.slots, rows[k].slot) > 0);
    for (std::size_t k = first; k < last; ++k) {
      if (b.has[k - first]) continue;
      rows[k].slot = b.slots.back();
      b.slots.pop_back();
    }
    for (std::size_t k = first; k < last; ++k) rows[k].free.assign(b.slots.begin(), b.slots.end());
    first = last;
  }
}

/// Notes which slots the children have, and which of them read rows in others. A child that does also
/// reads its own from now on, so it stays one.
void GeneratorCore::keep_slots() {
  Buffers& b = *buffers_;
  b.is_kept.assign(is_taken_.size(), 0);
  b.parted.swap(b.branched);
  b.branched.assign(is_taken_.size(), 0);
  for (const Row& row : b.next) {
    b.is_kept[std::size_t(row.slot)] = b.is_kept[std::size_t(row.other_slot)] = 1;
    for (const int slot : row.free) b.is_kept[std::size_t(slot)] = 1;
    const int parent = row.sources.back();
    b.branched[std::size_t(row.slot)] = char(row.slot != parent || b.parted[std::size_t(parent)]);
  }
  is_taken_.swap(b.is_kept);
}

void GeneratorCore::extend(std::span<const int> parents, std::span<const std::int32_t> tokens) {
  if (parents.empty() && tokens.empty()) return clear();
  read_added();
  make_children(parents, tokens);
  give_slots();
  keep_slots();
  rows_.swap(buffers_->next);
  read_ = rows();
  buffers_->shown_rows = 0;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    if (rows_[k].length == plan().context) {
      make_room(int(k));
      buffers_->branched[std::size_t(rows_[k].slot)] = 0;
    }
    rows_[k].tokens.push_back(tokens[k]);
    rows_[k].sources.push_back(rows_[k].slot);
  }
  if (!rows_.empty()) decode();
}

/// Reads the last token of each row.
void GeneratorCore::decode() {
  Buffers& b = *buffers_;
  const std::size_t count = rows_.size();
  const auto of_rows = [&](std::vector<std::int32_t>& numbers, auto number) {
    numbers.resize(count);
    std::ranges::transform(rows_, numbers.begin(), number);
  };
  b.batch.starts.resize(count + 1);
  std::iota(b.batch.starts.begin(), b.batch.starts.end(), 0);
  b.batch.ids.resize(b.decodes ? 2 : 1);
  if (b.decodes) b.batch.second_starts.assign(count + 1, 0);
  of_rows(b.batch.ids.back(), [](const Row& row) { return row.tokens.back(); });
  of_rows(b.rows, [](const Row& row) { return row.length; });
  of_rows(b.rows_slots, [](const Row& row) { return row.slot; });
  of_rows(b.other_rows, [](const Row& row) { return row.other_length; });
  of_rows(b.other_slots, [](const Row& row) { return row.other_slot; });
  Continued where{.before = {b.rows, b.other_rows}, .slots = {b.rows_slots, b.other_slots}};
  if (std::ranges::any_of(b.branched, [](char reads_others) { return reads_others != 0; })) {
    where.source_rows = plan().context;
    b.sources.assign(count * std::size_t(plan().context), 0);
    for (std::size_t k = 0; k < count; ++k)
      std::ranges::copy(rows_[k].sources, b.sources.begin() + std::ptrdiff_t(k) * plan().context);
    where.sources = b.sources;
  }
  Work work;
  work.batch = &b.batch;
  work.sequences = int(count);
  work.continued = &where;
  trainer_.machine().decode(work);
  for (Row& row : rows_) ++row.length;
  show_logits(int(count));
}

}  // namespace sinter
