// SPDX-License-Identifier: Apache-2.0
// How a generator reads prompts.
#include <algorithm>
#include <utility>

#include "generate/generator_row.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/program/id_limit.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Appends the rows of a sequence to an input of a batch.
void append(std::span<const std::int32_t> rows, std::vector<std::int32_t>& ids,
            std::vector<std::int32_t>& starts) {
  ids.insert(ids.end(), rows.begin(), rows.end());
  starts.push_back(std::int32_t(ids.size()));
}

}  // namespace

/// Reads parts of texts behind what their rows have.
void GeneratorCore::prefill(std::span<const Part> parts) {
  const bool decodes = is_encoder_decoder(plan().predicting);
  std::vector<std::int32_t> before, slots, other_before, other_slots;
  std::vector<std::byte> encoded;
  HostBatch batch;
  batch.starts = {0};
  batch.ids.resize(decodes ? 2 : 1);
  if (decodes) batch.second_starts = {0};
  for (const Part& part : parts) {
    if (decodes) append(part.other, batch.ids.front(), batch.second_starts);
    encoded.insert(encoded.end(), part.encoded.begin(), part.encoded.end());
    append(part.tokens, batch.ids.back(), batch.starts);
    before.push_back(part.row->length);
    slots.push_back(part.row->slot);
    other_before.push_back(part.row->other_length);
    other_slots.push_back(part.row->other_slot);
  }
  const Continued where{.before = {before, other_before}, .slots = {slots, other_slots}};
  Work work;
  work.batch = &batch;
  work.sequences = int(parts.size());
  work.continued = &where;
  work.encoded = encoded;
  trainer_.machine().predict(work);
  for (const Part& part : parts) {
    part.row->length += int(part.tokens.size());
    part.row->other_length += int(part.other.size());
    part.row->sources.resize(std::size_t(part.row->length), part.row->slot);
  }
}

/// Reads tokens of one text behind those that its row has, in as many parts as it takes.
void GeneratorCore::read(int row, std::span<const std::int32_t> tokens) {
  Row& text = rows_[std::size_t(row)];
  const auto most = std::size_t(std::min(plan().prefill_rows, plan().context));
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t count = std::min(tokens.size() - done, most);
    const std::vector<std::int32_t> other = std::exchange(text.other, {});
    const Part part{&text, tokens.subspan(done, count), other, std::exchange(text.encoded, {})};
    prefill({&part, 1});
    done += count;
  }
}

/// Reads the texts that were added since others were read: as many at once as fit. Those that an
/// encoder is to read stay apart from others.
void GeneratorCore::read_added() {
  const auto seen = [&](const Row& row) {
    return std::span(row.tokens).last(std::min(row.tokens.size(), std::size_t(plan().context)));
  };
  if (read_ < rows()) keep_shown_logits();
  while (read_ < rows()) {
    std::vector<Part> parts;
    std::size_t count = 0, others = 0;
    for (int k = read_; k < rows() && std::ssize(parts) < plan().prefill_texts; ++k) {
      Row& row = rows_[std::size_t(k)];
      count += seen(row).size();
      others += row.other.size();
      if (count > std::size_t(plan().prefill_rows) ||
          others > std::size_t(plan().prefill_other_rows))
        break;
      if (!parts.empty() && parts.front().encoded.empty() != row.encoded.empty()) break;
      parts.push_back({&row, seen(row), row.other, row.encoded});
    }
    if (parts.empty()) {
      read(read_, seen(rows_[std::size_t(read_)]));
    } else {
      prefill(parts);
      for (const Part& part : parts) part.row->other = {}, part.row->encoded = {};
    }
    const int all = std::max(int(parts.size()), 1);
    keep_logits(read_, all);
    read_ += all;
  }
}

/// Reads the last half of a text anew, in the first rows of its slot.
void GeneratorCore::make_room(int number) {
  Row& row = rows_[std::size_t(number)];
  const std::vector<std::int32_t> tokens(row.tokens.end() - plan().context / 2, row.tokens.end());
  row.length = 0;
  row.sources.clear();
  read(number, tokens);
  ++rereads_;
}

}  // namespace sinter
