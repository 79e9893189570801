// SPDX-License-Identifier: Apache-2.0
// Batches for tests, with sequences of any length and random contents.
#pragma once
#include <random>

#include "sinter/data/host_batch.hpp"

namespace sinter::detail::testing {

/// A batch with sequences of these lengths, but no inputs.
inline HostBatch sequences_of(const std::vector<int>& lengths) {
  HostBatch batch;
  for (int length : lengths) batch.starts.push_back(batch.starts.back() + length);
  return batch;
}

/// Adds an input of normal numbers, `width` per row.
inline void add_values(HostBatch& batch, int width, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(std::size_t(batch.rows()) * std::size_t(width));
  for (float& v : values) v = normal(engine);
  batch.values.push_back(std::move(values));
}

/// Adds an input of ids below `limit`; a share `ignored` of them is -1.
inline void add_ids(HostBatch& batch, int limit, std::uint64_t seed, double ignored = 0) {
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<std::int32_t> id(0, limit - 1);
  std::bernoulli_distribution ignore(ignored);
  std::vector<std::int32_t> ids(std::size_t(batch.rows()));
  for (std::int32_t& i : ids) i = ignore(engine) ? -1 : id(engine);
  batch.ids.push_back(std::move(ids));
}

/// A batch with `in` numbers and `out` targets per row.
inline HostBatch regression_batch(const std::vector<int>& lengths, int in, int out,
                                  std::uint64_t seed) {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, in, seed);
  add_values(batch, out, seed + 1);
  return batch;
}

/// A batch of tokens and targets; a share `ignored` of the targets is -1.
inline HostBatch token_batch(const std::vector<int>& lengths, int vocabulary, std::uint64_t seed,
                             double ignored = 0) {
  HostBatch batch = sequences_of(lengths);
  add_ids(batch, vocabulary, seed);
  add_ids(batch, vocabulary, seed + 1, ignored);
  return batch;
}

/// The sequences [first, last) of a batch.
inline HostBatch part(const HostBatch& batch, int first, int last) {
  HostBatch result;
  int begin = batch.starts[std::size_t(first)], end = batch.starts[std::size_t(last)];
  for (int s = first; s < last; ++s)
    result.starts.push_back(batch.starts[std::size_t(s) + 1] - begin);
  for (const auto& e : batch.ids) result.ids.emplace_back(e.begin() + begin, e.begin() + end);
  for (const auto& e : batch.values) {
    auto width = batch.rows() ? int(e.size()) / batch.rows() : 0;
    result.values.emplace_back(e.begin() + begin * width, e.begin() + end * width);
  }
  return result;
}

}  // namespace sinter::detail::testing
