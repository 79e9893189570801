// What both directions of attention share: a call, its units of work, and who does them.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/cpu/mask.hpp"
#include "kernels/cpu/split.hpp"
#include "sinter/kernels/attention.hpp"

namespace sinter::kernel {

/// The operands of a call. dy, dqkv, add and sums: backward only.
template <class T>
struct Attention {
  const T* qkv;
  T* y;
  Wide<T>* log_sum;
  int heads, width;
  bool causal;
  Dropout dropout;
  const T* dy = nullptr;
  T* dqkv = nullptr;
  bool add = false;
  Wide<T>* sums =
      nullptr;  // where T is narrow: rows × 2 width, of the gradients of keys and values

  int depth() const { return width / heads; }
  Wide<T> scale() const { return Wide<T>(1 / std::sqrt(double(depth()))); }
};

/// One head of one sequence, rows [start, start + length).
struct Head {
  std::int64_t start;
  int length, head;
};

/// The mask's key for one head.
inline Dropout for_head(Dropout dropout, int head) {
  dropout.key = mix(dropout.key ^ (std::uint64_t(head) + 1) * mix_step);
  return dropout;
}

/// Spreads units of different cost over the threads: visit_all(visit) calls visit(unit…, cost) for
/// each; run(unit…) is called for each, by one thread. Which thread depends on the costs alone.
template <class VisitAll, class Run>
void balance(Stream& stream, std::int64_t elements_per_cost, const VisitAll& visit_all,
             const Run& run) {
  std::int64_t total = 0;
  visit_all([&](Head, int, std::int64_t cost) { total += cost; });
  const int parts = parts_for(stream, total, elements_per_cost);
  stream.parallel(parts, [&](int part) {
    std::int64_t before = 0;
    visit_all([&](Head head, int first, std::int64_t cost) {
      if ((2 * before + cost) * parts / (2 * total) == part) run(head, first);
      before += cost;
    });
  });
}

}  // namespace sinter::kernel
