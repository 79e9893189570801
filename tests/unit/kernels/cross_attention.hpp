// SPDX-License-Identifier: Apache-2.0
// A call of cross-attention, for the tests of its kernels.
#pragma once
#include "unit/kernels/attention.hpp"

namespace sinter::detail::testing {

using kernel::Sequences;
using kernel::Tensor;

/// What is asked for a gradient.
enum class Put { nothing, assign, add };

/// Operands and results of both directions, in the type T.
template <class T, class S = kernel::Wide<T>>
struct Cross {
  Starts queries, keys, lengths{};  // lengths: of keys without padding; empty if there is none
  int heads, width;
  Dropout dropout;
  std::vector<T> q, kv, dy, y, dq, dkv;
  std::vector<S> log_sum, scratch;

  Cross(Starts of_queries, Starts of_keys, int head_count, int depth, Dropout dropped = {})
      : queries(std::move(of_queries)),
        keys(std::move(of_keys)),
        heads(head_count),
        width(head_count * depth),
        dropout(dropped),
        q(normal_values<T>(queries.back() * width, 1, 1.5)),
        kv(normal_values<T>(keys.back() * 2 * width, 2, 1.5)),
        dy(normal_values<T>(q.size(), 3)),
        y(q.size(), T(NAN)),
        dq(normal_values<T>(q.size(), 4)),
        dkv(normal_values<T>(kv.size(), 5)),
        log_sum(queries.back() * heads),
        scratch(kernel::attention_scratch<T>(keys.back(), width), S(NAN)) {}

  Tensor<const T> of_q() const { return {q.data(), queries.back(), width}; }
  Tensor<const T> of_kv() const { return {kv.data(), keys.back(), 2 * width}; }

  Sequences of_keys() const {
    Sequences all = sequences_of(keys);
    if (!lengths.empty()) all.lengths = lengths.data();
    return all;
  }

  void forward(Stream& s) {
    kernel::cross_attention_forward(s, of_q(), of_kv(), tensor(y, queries.back(), width),
                                    tensor(log_sum, queries.back(), heads), sequences_of(queries),
                                    of_keys(), dropout);
  }
  void backward(Stream& s, Put q_put, Put kv_put) {
    Tensor<T> to_q, to_kv;
    if (q_put != Put::nothing) to_q = {dq.data(), queries.back(), width, q_put == Put::add};
    if (kv_put != Put::nothing) to_kv = {dkv.data(), keys.back(), 2 * width, kv_put == Put::add};
    if (q_put == Put::assign) std::fill(dq.begin(), dq.end(), T(NAN));
    if (kv_put == Put::assign) std::fill(dkv.begin(), dkv.end(), T(NAN));
    kernel::cross_attention_backward(
        s, of_q(), of_kv(), tensor(y, queries.back(), width), tensor(dy, queries.back(), width),
        tensor(log_sum, queries.back(), heads), to_q, to_kv, sequences_of(queries), of_keys(),
        kv_put == Put::nothing ? nullptr : scratch.data(), dropout);
  }
  /// After forward, from what lies in dq and dkv now; the same for every number of threads.
  Cross after_backward(Put q_put, Put kv_put) const {
    Cross result = *this;
    same_on_all_threads([&](Stream& s) {
      result = *this;
      result.backward(s, q_put, kv_put);
      std::vector<T> both = result.dq;
      both.insert(both.end(), result.dkv.begin(), result.dkv.end());
      return both;
    });
    return result;
  }
};

/// The rows of queries, and behind them those of keys, as Reference takes them.
template <class T>
std::vector<T> in_one(const Cross<T>& c) {
  std::vector<T> qkv(std::size_t(c.queries.back() + c.keys.back()) * 3 * c.width);
  for (std::size_t i = 0; i < c.q.size(); ++i)
    qkv[i / c.width * 3 * c.width + i % c.width] = c.q[i];
  for (std::size_t i = 0; i < c.kv.size(); ++i)
    qkv[(c.queries.back() + i / (2 * c.width)) * 3 * c.width + c.width + i % (2 * c.width)] =
        c.kv[i];
  return qkv;
}
/// The parts of such rows that are queries', or keys'.
template <class W>
std::vector<W> part_of(const std::vector<W>& qkv, int first, int rows, int column, int columns,
                       int width) {
  std::vector<W> part;
  for (int r = first; r < first + rows; ++r)
    for (int c = column; c < column + columns; ++c)
      part.push_back(qkv[std::size_t(r) * 3 * width + c]);
  return part;
}

}  // namespace sinter::detail::testing
