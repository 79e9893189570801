// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/merges.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

namespace sinter::detail {
namespace {

constexpr std::uint32_t never = ~std::uint32_t(0);

/// A piece of text as a list whose nodes are the tokens that are left.
class MergeList {
  struct Node {
    std::int32_t token;
    std::size_t next, before;
  };
  /// A merge that could be made when it was found.
  struct Candidate {
    std::uint32_t rank;
    std::size_t at;
    std::int32_t left, right, result;
    bool operator<(const Candidate& o) const { return std::tie(rank, at) > std::tie(o.rank, o.at); }
  };
  static constexpr std::size_t none = ~std::size_t(0);
  static constexpr std::int32_t gone = -1;

  const Merges& merges;
  std::vector<Node> nodes;
  std::vector<Candidate> heap;

  void find(std::size_t at) {
    if (at == none || nodes[at].next == none) return;
    const std::int32_t left = nodes[at].token, right = nodes[nodes[at].next].token;
    if (const Merges::Slot* slot = merges.find(left, right))
      heap.push_back({slot->rank, at, left, right, slot->result});
  }
  bool still_holds(const Candidate& c) const {
    const Node& node = nodes[c.at];
    return node.token == c.left && node.next != none && nodes[node.next].token == c.right;
  }
  void find_and_push(std::size_t at) {
    const std::size_t before = heap.size();
    find(at);
    if (heap.size() > before) std::push_heap(heap.begin(), heap.end());
  }
  void merge(const Candidate& c) {
    Node& node = nodes[c.at];
    Node& dead = nodes[node.next];
    node.token = c.result;
    node.next = dead.next;
    dead.token = gone;
    if (node.next != none) nodes[node.next].before = c.at;
    find_and_push(c.at);
    find_and_push(node.before);
  }

 public:
  MergeList(const Merges& merges_, const std::int32_t* tokens, std::size_t count)
      : merges(merges_) {
    nodes.resize(count);
    for (std::size_t k = 0; k < count; ++k)
      nodes[k] = {tokens[k], k + 1 < count ? k + 1 : none, k > 0 ? k - 1 : none};
    for (std::size_t k = 0; k < count; ++k) find(k);
    std::make_heap(heap.begin(), heap.end());
  }
  void apply() {
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      const Candidate c = heap.back();
      heap.pop_back();
      if (still_holds(c)) merge(c);
    }
  }
  std::size_t copy_to(std::int32_t* tokens) const {
    std::size_t count = 0;
    for (std::size_t at = nodes.empty() ? none : 0; at != none; at = nodes[at].next)
      tokens[count++] = nodes[at].token;
    return count;
  }
};

}  // namespace

Merges::Merges(const std::vector<Merge>& merges) {
  slots.assign(std::bit_ceil(merges.size() * 2 + 2), {empty, never, 0});
  mask = slots.size() - 1;
  std::uint32_t rank = 0;
  for (const Merge& merge : merges) {
    const std::uint64_t key = key_of(merge.left, merge.right);
    std::size_t at = first_of(key);
    while (slots[at].key != empty && slots[at].key != key) at = (at + 1) & mask;
    if (slots[at].key == empty) slots[at] = {key, rank, merge.result};
    ++rank;
  }
}

std::size_t Merges::apply(std::int32_t* tokens, std::size_t count) const {
  return count <= max_scanned ? apply_by_scan(tokens, count) : apply_by_heap(tokens, count);
}

std::size_t Merges::apply_by_scan(std::int32_t* tokens, std::size_t count) const {
  std::uint32_t ranks[max_scanned];
  std::int32_t results[max_scanned];
  auto look = [&](std::size_t at) {
    const Slot* slot = at + 1 < count ? find(tokens[at], tokens[at + 1]) : nullptr;
    ranks[at] = slot ? slot->rank : never;
    results[at] = slot ? slot->result : 0;
  };
  for (std::size_t k = 0; k < count; ++k) look(k);
  while (count > 1) {
    const std::size_t at = std::size_t(std::min_element(ranks, ranks + count) - ranks);
    if (ranks[at] == never) break;
    tokens[at] = results[at];
    auto close_gap = [&](auto* values) {
      std::memmove(values + at + 1, values + at + 2, (count - at - 2) * sizeof *values);
    };
    close_gap(tokens), close_gap(ranks), close_gap(results);
    --count;
    look(at);
    if (at > 0) look(at - 1);
  }
  return count;
}

std::size_t Merges::apply_by_heap(std::int32_t* tokens, std::size_t count) const {
  MergeList list(*this, tokens, count);
  list.apply();
  return list.copy_to(tokens);
}

}  // namespace sinter::detail
