// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generate/generator_row.hpp"
#include "generate/prompts.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/error.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {
using namespace detail;

namespace {

void check_ids(const Model& model, int external, std::span<const std::int32_t> tokens) {
  const int limit = id_limit(model, external);
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
      max_rows_(plan().max_texts) {}

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

int GeneratorCore::rows() const { return int(rows_.size()); }

void GeneratorCore::clear() {
  rows_.clear();
  read_ = 0;
  std::ranges::fill(is_taken_, 0);
}

std::span<float> GeneratorCore::logits(int row) {
  read_added();
  return kept_logits(row);
}

/// Where the logits of a row are kept.
std::span<float> GeneratorCore::kept_logits(int row) {
  const auto vocabulary = std::size_t(plan().vocabulary);
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

void GeneratorCore::add(const Prompt& prompt, int hypotheses) {
  check_prompt(plan(), prompt);
  const bool decodes = is_encoder_decoder(plan().predicting);
  check_ids(plan().predicting, 0, prompt.tokens);
  if (decodes) check_ids(plan().predicting, 1, prompt.decoder);
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
  for (const int slot : row.free) is_taken_[std::size_t(slot)] = 1;
  row.slot = row.other_slot = row.free.front();
  row.free.erase(row.free.begin());
  row.tokens = continued(prompt);
  const std::span<const std::int32_t> source = source_of(prompt);
  row.other.assign(source.begin(), source.end());
  ++texts_;
  rows_.push_back(std::move(row));
}

/// Makes the children of rows, without slots.
std::vector<GeneratorCore::Row> GeneratorCore::rows_of_children(
    std::span<const int> parents, std::span<const std::int32_t> tokens) {
  std::vector<ExtendedRow> before;
  for (const Row& row : rows_) before.push_back({row.text, row.kept, row.length});
  check_extension(plan(), before, parents, tokens);
  check_ids(plan().predicting, is_encoder_decoder(plan().predicting) ? 1 : 0, tokens);
  std::vector<int> children(rows_.size(), 0);
  for (const int parent : parents) ++children[std::size_t(parent)];
  std::vector<Row> next;
  for (std::size_t k = 0; k < parents.size(); ++k) {
    Row& parent = rows_[std::size_t(parents[k])];
    next.push_back(--children[std::size_t(parents[k])] > 0 ? parent : std::move(parent));
  }
  return next;
}

/// Gives each row a slot of its text: that of its parent to one child, free ones to others.
void GeneratorCore::give_slots(std::vector<Row>& rows) const {
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].text == rows[first].text) ++last;
    std::vector<int> slots = rows[first].free;  // of the text
    for (const Row& row : rows_)
      if (row.text == rows[first].text) slots.push_back(row.slot);
    std::vector<char> has(last - first, 0);
    for (std::size_t k = first; k < last; ++k)
      has[k - first] = char(std::erase(slots, rows[k].slot) > 0);
    for (std::size_t k = first; k < last; ++k) {
      if (has[k - first]) continue;
      rows[k].slot = slots.back();
      slots.pop_back();
    }
    for (std::size_t k = first; k < last; ++k) rows[k].free = slots;
    first = last;
  }
}

void GeneratorCore::extend(std::span<const int> parents, std::span<const std::int32_t> tokens) {
  if (parents.empty() && tokens.empty()) return clear();
  read_added();
  std::vector<Row> next = rows_of_children(parents, tokens);
  give_slots(next);
  std::vector<char> is_kept(is_taken_.size(), 0);
  for (const Row& row : next) {
    is_kept[std::size_t(row.slot)] = is_kept[std::size_t(row.other_slot)] = 1;
    for (const int slot : row.free) is_kept[std::size_t(slot)] = 1;
  }
  is_taken_ = std::move(is_kept);
  rows_ = std::move(next);
  read_ = rows();
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    if (rows_[k].length == plan().context) make_room(int(k));
    rows_[k].tokens.push_back(tokens[k]);
    rows_[k].sources.push_back(rows_[k].slot);
  }
  if (!rows_.empty()) decode();
}

/// Reads the last token of each row.
void GeneratorCore::decode() {
  const std::size_t count = rows_.size();
  const auto of_rows = [&](auto number) {
    std::vector<std::int32_t> numbers(count);
    std::ranges::transform(rows_, numbers.begin(), number);
    return numbers;
  };
  HostBatch batch;
  batch.starts.resize(count + 1);
  std::iota(batch.starts.begin(), batch.starts.end(), 0);
  if (is_encoder_decoder(plan().predicting)) {
    batch.second_starts.assign(count + 1, 0);
    batch.ids.emplace_back();
  }
  batch.ids.push_back(of_rows([](const Row& row) { return row.tokens.back(); }));
  const auto before = of_rows([](const Row& row) { return row.length; });
  const auto slots = of_rows([](const Row& row) { return row.slot; });
  const auto other_before = of_rows([](const Row& row) { return row.other_length; });
  const auto other_slots = of_rows([](const Row& row) { return row.other_slot; });
  Continued where{.before = {before, other_before}, .slots = {slots, other_slots}};
  const bool branched = std::ranges::any_of(rows_, [](const Row& row) {
    return std::ranges::any_of(row.sources, [&](int slot) { return slot != row.slot; });
  });
  if (branched) {
    where.source_rows = plan().context;
    sources_.assign(count * std::size_t(plan().context), 0);
    for (std::size_t k = 0; k < count; ++k)
      std::ranges::copy(rows_[k].sources, sources_.begin() + std::ptrdiff_t(k) * plan().context);
    where.sources = sources_;
  }
  Work work;
  work.batch = &batch;
  work.sequences = int(count);
  work.continued = &where;
  trainer_.machine().decode(work);
  for (Row& row : rows_) ++row.length;
  keep_logits(0, int(count));
}

}  // namespace sinter
