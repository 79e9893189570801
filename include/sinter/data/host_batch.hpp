// SPDX-License-Identifier: Apache-2.0
// A batch on the host, as a data source fills it and the trainer takes it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace sinter {

/// What a source of examples, each of which is a sequence, says of those in a batch.
struct ExampleCounts {
  std::int64_t context = 0;  ///< rows that predict nothing, without padding
  std::int64_t label = 0;    ///< rows that each predict a token
  std::int64_t padding = 0;  ///< rows that belong to no example
  int truncated = 0;         ///< examples of which something was left out, as they were too long

  bool operator==(const ExampleCounts&) const = default;
};

/// Which sequences of each global batch a rank computes: as many as the others, or one more, one after
/// the other, so that the number of a sequence in the batch does not depend on the split.
struct BatchPart {
  int rank = 0;   ///< whose part it is, from 0
  int ranks = 1;  ///< how many there are; with 1 the part is the whole batch

  /// The first of a batch of so many sequences that is in the part.
  int begin(int sequences) const { return int(std::int64_t{sequences} * rank / ranks); }
  /// The one behind the last.
  int end(int sequences) const { return int(std::int64_t{sequences} * (rank + 1) / ranks); }
  /// Whether there is no other part.
  bool is_whole() const { return ranks == 1; }

  bool operator==(const BatchPart&) const = default;
};

/// Sequences of rows on one axis, or on two (sources and translations). `ids` and `values` have an
/// entry for each external input of the model, in the order in which its trace asks for them:
///   language model: ids[0] tokens, ids[1] targets (-1 where a row has nothing to predict)
///   regression:     values[0] inputs, values[1] targets; each row is a sequence of its own
///   classification: values[0] inputs, ids[0] classes (-1 where a row has none); likewise
/// An input has a number (or as many as it is wide) for each row of its axis, or, if its axis is
/// pooled(0) or pooled(1), for each sequence: g.targets(pooled(0)) is a label for each of them.
///
/// A batch may have the content of a part of its sequences alone, which is what a process needs whose
/// part that is: then `ids` and `values` hold the rows of these, and all else is of the whole batch.
struct HostBatch {
  std::vector<std::int32_t> starts{0};  ///< sequence s is rows [starts[s], starts[s + 1])
  /// The same for the rows of axis 1, for the same number of sequences. If it is empty, they are
  /// those of axis 0.
  std::vector<std::int32_t> second_starts{};
  std::vector<std::vector<std::int32_t>> ids;  ///< an entry has one number per row
  std::vector<std::vector<float>> values;      ///< an entry is rows × the input's width, row-major
  BatchPart part{};                            ///< whose rows these are, of all sequences at first
  /// How many rows (or numbers of rows that are wide) of the whole batch predict something, where that
  /// is known though the content is that of a part. Without it, those who have the parts count together.
  std::optional<std::int64_t> predictions{};
  std::optional<ExampleCounts> examples{};  ///< present where the source counts them
  /// A key for each sequence, Permutation::item_key(): what is drawn for the item by this key is
  /// the same wherever the sequence stands in a batch. Empty where the source gives none.
  std::vector<std::uint64_t> keys{};

  int rows() const { return starts.empty() ? 0 : starts.back(); }
  /// Where sequences start on axis 0 or 1.
  const std::vector<std::int32_t>& starts_of(int axis) const {
    return axis == 1 && !second_starts.empty() ? second_starts : starts;
  }
  /// The rows of an axis; those of a pooled one (2 or 3) are the sequences.
  int rows_of(int axis) const {
    if (axis > 1) return sequences();
    return starts_of(axis).empty() ? 0 : starts_of(axis).back();
  }
  int sequences() const { return starts.empty() ? 0 : int(starts.size()) - 1; }
  /// Some of the rows of an axis.
  struct Rows {
    int begin;  ///< the first
    int end;    ///< the one behind the last
    /// How many they are.
    int count() const { return end - begin; }
  };
  /// The rows of an axis that ids and values hold; those of a pooled one (2 or 3) are the sequences.
  Rows held_rows(int axis) const {
    const int first = part.begin(sequences()), last = part.end(sequences());
    if (axis > 1 || starts.empty()) return {first, last};
    const std::vector<std::int32_t>& at = starts_of(axis);
    return {at[std::size_t(first)], at[std::size_t(last)]};
  }
  /// The rows of both axes.
  std::int64_t all_rows() const {
    return std::int64_t{rows()} + (second_starts.empty() ? 0 : second_starts.back());
  }

  /// Adds to the counts of examples.
  void count(const ExampleCounts& more) {
    if (!examples) examples.emplace();
    examples->context += more.context;
    examples->label += more.label;
    examples->padding += more.padding;
    examples->truncated += more.truncated;
  }

  /// Removes all sequences and rows. The inputs and all memory stay, so that a batch that is filled
  /// again and again allocates nothing.
  void clear() {
    starts.assign(1, 0);
    second_starts.clear();
    for (auto& e : ids) e.clear();
    for (auto& e : values) e.clear();
    part = {};
    predictions.reset();
    examples.reset();
    keys.clear();
  }
};

}  // namespace sinter
