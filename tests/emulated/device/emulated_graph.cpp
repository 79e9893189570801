// SPDX-License-Identifier: Apache-2.0
#include "emulated/device/emulated_graph.hpp"

#include <utility>

#include "emulated/device/graph_counts.hpp"

namespace sinter::kernel::emulated {

void LaunchGraph::pass(bool record, const Facts& facts, const Node& node) {
  if (record) {
    recorded.push_back(facts);
    recording->push_back(node);
    return;
  }
  if (passed == recorded.size()) refuse("a graph that has more launches than it was recorded with");
  if (recorded[passed++] != facts)
    refuse(
        "a graph whose launches differ from those that were recorded: the kernel, its grid, or an "
        "argument that the host gives it anew in each step and that is no Argument<T>");
}

void LaunchGraph::pass_if(bool record, const std::int32_t* condition, const Node& work) {
  Facts facts;
  facts.add(condition);
  std::vector<Node> body;
  std::vector<Node>* outer = std::exchange(recording, &body);
  work();
  recording = outer;
  pass(record, facts, [condition, body] {
    if (!holds(condition)) return;
    for (const Node& node : body) node();
  });
}

void LaunchGraph::pass_wait(bool record, const Node& node) {
  if (recording != &nodes) refuse("a wait for copies, or a condition within what hangs on one");
  pass(record, {}, node);
}

void LaunchGraph::end() {
  if (std::exchange(passed, 0) != recorded.size())
    refuse("a graph that has fewer launches than it was recorded with");
}

thread_local GraphCounts graph_counts;

void LaunchGraph::run() const {
  ++graph_counts.launched;
  for (const Node& node : nodes) node();
}

bool holds(const std::int32_t* condition) {
  const Opened memory;
  return *condition != 0;
}

}  // namespace sinter::kernel::emulated
