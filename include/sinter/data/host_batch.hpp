// SPDX-License-Identifier: Apache-2.0
// A batch on the host, as a data source fills it and the trainer takes it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace sinter {

/// Counts of the examples in a batch, from a source whose sequences are examples.
struct ExampleCounts {
  std::int64_t context = 0;       ///< rows that predict nothing, without padding
  std::int64_t label = 0;         ///< rows that each predict a token
  std::int64_t padding = 0;       ///< rows that belong to no example
  int truncated = 0;              ///< examples that were too long, so that something was left out
  std::int64_t full_context = 0;  ///< `context`, had nothing been left out
  std::int64_t full_label = 0;    ///< `label`, had nothing been left out
  int contexts_cut = 0;           ///< examples whose context has lost rows
  int labels_cut = 0;             ///< examples whose label has lost rows

  /// Adds the counts of more examples.
  ExampleCounts& operator+=(const ExampleCounts& more) {
    context += more.context;
    label += more.label;
    padding += more.padding;
    truncated += more.truncated;
    full_context += more.full_context;
    full_label += more.full_label;
    contexts_cut += more.contexts_cut;
    labels_cut += more.labels_cut;
    return *this;
  }
  bool operator==(const ExampleCounts&) const = default;
};

/// The sequences of each global batch that one rank computes: consecutive ones, as many as other
/// ranks or one more or less. A sequence's number in the batch does not depend on the split.
struct BatchPart {
  int rank = 0;   ///< the rank, from 0
  int ranks = 1;  ///< number of ranks; with 1 the part is the whole batch

  /// First sequence of the part, in a batch of `sequences` sequences.
  int begin(int sequences) const { return int(std::int64_t{sequences} * rank / ranks); }
  /// End of the part: one past its last sequence.
  int end(int sequences) const { return int(std::int64_t{sequences} * (rank + 1) / ranks); }
  /// True if the part is the whole batch.
  bool is_whole() const { return ranks == 1; }

  bool operator==(const BatchPart&) const = default;
};

/// Sequences of rows on one axis, or on two (sources and translations). `ids` and `values` have an
/// entry for each external input of the model, in the order in which its trace asks for them:
///   language model: ids[0] tokens, ids[1] targets (-1 if a row has nothing to predict)
///   regression:     values[0] inputs, values[1] targets; each row is a sequence of its own
///   classification: values[0] inputs, ids[0] classes (-1 if none); each row is a sequence
/// An input has one number (or its width) per row of its axis. If its axis is pooled(0) or
/// pooled(1), it has one per sequence: g.targets(pooled(0)) is a label for each.
///
/// A batch may be partial: `ids` and `values` then hold only the rows of the sequences in `part`;
/// all other fields describe the whole batch. A process needs only its own part.
struct HostBatch {
  std::vector<std::int32_t> starts{0};  ///< sequence s is rows [starts[s], starts[s + 1])
  /// `starts` of the rows on axis 1, for the same number of sequences. If empty, both axes have the
  /// rows of axis 0.
  std::vector<std::int32_t> second_starts{};
  /// The number of rows of each sequence on axis 1 that are no padding, at least 1. They come first:
  /// padding, to which no row attends, stands behind them. If empty, there is none on axis 1.
  std::vector<std::int32_t> second_lengths{};
  std::vector<std::vector<std::int32_t>> ids;  ///< an entry has one number per row
  std::vector<std::vector<float>> values;      ///< an entry is rows × the input's width, row-major
  BatchPart part{};  ///< the part that ids and values hold; by default all
  /// Number of predicting rows (or numbers, if rows are wide) of the whole batch, if known although
  /// the content is partial. If unset, processes sum the counts of their parts.
  std::optional<std::int64_t> predictions{};
  std::optional<ExampleCounts> examples{};  ///< set if the source counts examples
  /// A key for each sequence, Permutation::item_key(). Random draws by this key do not depend on
  /// the sequence's place in a batch. Empty if the source gives none.
  std::vector<std::uint64_t> keys{};

  int rows() const { return starts.empty() ? 0 : starts.back(); }  ///< number of rows on axis 0
  /// The starts of sequences on axis 0 or 1.
  const std::vector<std::int32_t>& starts_of(int axis) const {
    return axis == 1 && !second_starts.empty() ? second_starts : starts;
  }
  /// Number of rows of an axis; a pooled one (2 or 3) has a row per sequence.
  int rows_of(int axis) const {
    if (axis > 1) return sequences();
    return starts_of(axis).empty() ? 0 : starts_of(axis).back();
  }
  /// Number of sequences.
  int sequences() const { return starts.empty() ? 0 : int(starts.size()) - 1; }
  /// A range of rows of an axis.
  struct Rows {
    int begin;  ///< first row
    int end;    ///< one past the last row
    /// Number of rows.
    int count() const { return end - begin; }
  };
  /// The rows of an axis that ids and values hold; a pooled one (2 or 3) has a row per sequence.
  Rows held_rows(int axis) const {
    const int first = part.begin(sequences()), last = part.end(sequences());
    if (axis > 1 || starts.empty()) return {first, last};
    const std::vector<std::int32_t>& at = starts_of(axis);
    return {at[std::size_t(first)], at[std::size_t(last)]};
  }
  /// The rows of a sequence on axis 0 or 1, without the padding that second_lengths tells of.
  Rows own_rows(int axis, int sequence) const {
    const std::vector<std::int32_t>& at = starts_of(axis);
    const auto s = std::size_t(sequence);
    const bool is_padded = axis == 1 && !second_lengths.empty();
    return {at[s], is_padded ? at[s] + second_lengths[s] : at[s + 1]};
  }
  /// Number of rows of both axes.
  std::int64_t all_rows() const {
    return std::int64_t{rows()} + (second_starts.empty() ? 0 : second_starts.back());
  }

  /// Adds to the counts of examples.
  void count(const ExampleCounts& more) {
    if (!examples) examples.emplace();
    *examples += more;
  }

  /// Removes all sequences and rows. The inputs and all memory stay, so that refilling a batch
  /// allocates nothing.
  void clear() {
    starts.assign(1, 0);
    second_starts.clear();
    second_lengths.clear();
    for (auto& e : ids) e.clear();
    for (auto& e : values) e.clear();
    part = {};
    predictions.reset();
    examples.reset();
    keys.clear();
  }
};

}  // namespace sinter
