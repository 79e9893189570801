// SPDX-License-Identifier: Apache-2.0
// The graphs of a stream, by the shape of what they compute (Stream::as_graph).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace sinter::kernel {

/// Graphs in the order in which they were last used. Beyond `most` shapes, those unused for the
/// longest are dropped, as each takes memory of the card.
template <class Graph>
class GraphsByShape {
 public:
  using Shape = std::vector<std::int64_t>;
  static constexpr std::size_t most = 64;

  /// The graph of a shape, or null if there is none.
  Graph* find(const Shape& shape) {
    const auto at = std::ranges::find(entries, shape, &Entry::shape);
    if (at == entries.end()) return nullptr;
    entries.splice(entries.begin(), entries, at);
    return &at->graph;
  }
  /// Makes an empty graph of a shape that has none.
  Graph& add(const Shape& shape) {
    if (entries.size() == most) entries.pop_back();
    Entry& entry = entries.emplace_front();
    entry.shape = shape;
    return entry.graph;
  }
  /// Forgets all of them.
  void clear() { entries.clear(); }

 private:
  struct Entry {
    Shape shape;
    Graph graph;
  };
  std::list<Entry> entries;
};

}  // namespace sinter::kernel
