// One batch on the host, as a data source fills it and the trainer takes it.
#pragma once
#include <cstdint>
#include <vector>

namespace sinter {

/// Sequences of rows. Sequence s is rows [starts[s], starts[s + 1]).
///
/// ids and values: one entry per external input of the model, in the order in which its trace asks
/// for them. ids[e]: one number per row. values[e]: rows × width of that input, row-major.
///   language model: ids[0] tokens, ids[1] targets (-1: nothing to predict in this row)
///   regression:     values[0] inputs, values[1] targets, each row its own sequence
struct HostBatch {
  std::vector<std::int32_t> starts{0};
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::vector<float>> values;

  int rows() const { return starts.empty() ? 0 : starts.back(); }
  int sequences() const { return starts.empty() ? 0 : int(starts.size()) - 1; }

  /// No sequences and no rows; the number of inputs and all memory stay, so that a batch that is
  /// filled again and again allocates nothing.
  void clear() {
    starts.assign(1, 0);
    for (auto& e : ids) e.clear();
    for (auto& e : values) e.clear();
  }
};

}  // namespace sinter
