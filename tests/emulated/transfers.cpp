// SPDX-License-Identifier: Apache-2.0
// The communicator of ranks that have a device each, on the emulated one: in the order of the stream.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "emulated/on_world.hpp"
#include "sinter/comm/mesh.hpp"
#include "sinter/hardware/memory.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

/// What a rank has for a run: other numbers in each.
template <class T>
std::vector<T> values_of(int rank, int run, int count) {
  return normal_values<T>(count, std::uint64_t(1 + 10 * run + rank));
}

template <class T>
std::vector<T> sums(int ranks, int run, int count) {
  std::vector<T> result(static_cast<std::size_t>(count));
  std::vector<std::vector<T>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(values_of<T>(r, run, count));
  for (std::size_t k = 0; k < result.size(); ++k) {
    kernel::Wide<T> sum = 0;
    for (const auto& values : all) sum += values[k];
    result[k] = T(sum);
  }
  return result;
}

/// Does the work directly, or as a graph.
void run_on(kernel::Stream& stream, bool graph, const auto& work) {
  const auto shape = [](std::vector<std::int64_t>&) {};
  graph ? stream.as_graph(shape, work) : work();
}

TEST_CASE_TEMPLATE("transfers follow what the stream did before, directly and in a graph", T, float,
                   double, BFloat16, Float16) {
  constexpr int ranks = 3, count = 1001, runs = 3;
  for (const int way : {0, 1, 2, 3, 4, 5}) {
    const bool graph = way % 2 != 0, in_parts = way / 2 == 1, at_root = way / 2 == 2;
    CAPTURE(graph);
    CAPTURE(in_parts);
    CAPTURE(at_root);
    const auto all = on_world(ranks, [&](const World& world) {
      kernel::Stream stream(1);
      const auto end = nccl_rank(stream, world);
      const DeviceMemory memory(count * sizeof(T)), copy(count * sizeof(T));
      T* const data = reinterpret_cast<T*>(memory.bytes().data());
      std::vector<std::vector<T>> results;
      for (int run = 0; run < runs; ++run) {
        {
          const auto mine = values_of<T>(world.rank, run, count);
          const OnHost to(stream, copy.bytes().data(), count * sizeof(T), Access::write);
          std::ranges::copy(mine, to.as<T>());
        }
        const auto work = [&] {
          copy_on_device(stream, copy.bytes().data(), memory.bytes().data(), count * sizeof(T));
          if (in_parts) end->start_reduce_scatter(data, count);
          if (at_root) end->start_reduce(data, count, 1);
          if (!in_parts && !at_root) end->start_sum(data, count);
          end->wait(data);
          if (at_root) end->start_broadcast(data, count, 1);
          if (at_root) end->wait(data);
          if (in_parts) end->start_all_gather(data, count);
          if (in_parts) end->wait(data);
          copy_on_device(stream, memory.bytes().data(), copy.bytes().data(), count * sizeof(T));
        };
        run_on(stream, graph, work);
        const OnHost from(stream, copy.bytes().data(), count * sizeof(T), Access::read);
        results.emplace_back(from.as<T>(), from.as<T>() + count);
      }
      return results;
    });
    for (const auto& results : all)
      for (int run = 0; run < runs; ++run)
        CHECK(same_bits(results[std::size_t(run)], sums<T>(ranks, run, count)));
  }
}

TEST_CASE("messages and exchanges of parts follow what the stream did before") {
  constexpr int ranks = 3, part = 77, count = ranks * part, runs = 3;
  for (const bool graph : {false, true}) {
    CAPTURE(graph);
    const auto all = on_world(ranks, [&](const World& world) {
      kernel::Stream stream(1);
      const auto end = nccl_rank(stream, world);
      const DeviceMemory mine(count * sizeof(float)), other(count * sizeof(float)),
          copy(count * sizeof(float));
      const auto at = [](const DeviceMemory& memory) {
        return reinterpret_cast<float*>(memory.bytes().data());
      };
      std::vector<std::vector<float>> results;
      for (int run = 0; run < runs; ++run) {
        {
          const OnHost to(stream, copy.bytes().data(), count * sizeof(float), Access::write);
          std::ranges::copy(values_of<float>(world.rank, run, count), to.as<float>());
        }
        const auto work = [&] {
          copy_on_device(stream, copy.bytes().data(), mine.bytes().data(), count * sizeof(float));
          end->start_send(at(mine), count, (world.rank + 1) % ranks);
          end->start_receive(at(other), count, (world.rank + 2) % ranks);
          end->wait(at(mine));
          end->wait(at(other));
          end->start_all_to_all(at(other), count);
          end->wait(at(other));
          copy_on_device(stream, other.bytes().data(), copy.bytes().data(), count * sizeof(float));
        };
        run_on(stream, graph, work);
        const OnHost from(stream, copy.bytes().data(), count * sizeof(float), Access::read);
        results.emplace_back(from.as<float>(), from.as<float>() + count);
      }
      return results;
    });
    for (int run = 0; run < runs; ++run)
      for (int r = 0; r < ranks; ++r)
        for (int p = 0; p < ranks; ++p) {
          const auto sent = values_of<float>((p + 2) % ranks, run, count);
          CHECK(std::equal(sent.begin() + r * part, sent.begin() + (r + 1) * part,
                           all[std::size_t(r)][std::size_t(run)].begin() + p * part));
        }
  }
}

TEST_CASE("no rank passes a barrier before all have come, in a graph and without") {
  constexpr int ranks = 3, rounds = 4;
  for (const bool graph : {false, true}) {
    CAPTURE(graph);
    std::atomic<int> come = 0;
    const auto too_early = on_world(ranks, [&](const World& world) {
      kernel::Stream stream(1);
      const auto end = nccl_rank(stream, world);
      int early = 0;
      for (int round = 1; round <= rounds; ++round) {
        if (round % ranks == world.rank) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++come;
        const auto work = [&] { end->barrier(); };
        run_on(stream, graph, work);
        early += come < round * ranks;
      }
      return early;
    });
    for (const int early : too_early) CHECK(early == 0);
    CHECK(come == rounds * ranks);
  }
}

TEST_CASE("transfers on the axes of a mesh follow what the stream did before") {
  constexpr Mesh mesh{{Mesh::Axis{"data", 2}, Mesh::Axis{"tensor", 2}}};
  constexpr int count = 1001;
  const auto all = on_world(mesh.ranks(), [&](const World& world) {
    kernel::Stream stream(1);
    const auto whole = nccl_rank(stream, world);
    const auto axes = axes_of(*whole, mesh);
    const DeviceMemory memory(count * sizeof(float));
    auto* const data = reinterpret_cast<float*>(memory.bytes().data());
    {
      const OnHost to(stream, memory.bytes().data(), count * sizeof(float), Access::write);
      std::ranges::copy(values_of<float>(world.rank, 0, count), to.as<float>());
    }
    for (const auto& axis : axes) {
      axis->start_sum(data, count);
      axis->wait(data);
    }
    const OnHost from(stream, memory.bytes().data(), count * sizeof(float), Access::read);
    return std::vector<float>(from.as<float>(), from.as<float>() + count);
  });
  std::vector<float> values[4];
  for (int r = 0; r < 4; ++r) values[r] = values_of<float>(r, 0, count);
  for (std::size_t k = 0; k < count; ++k)
    for (const auto& got : all)
      REQUIRE(got[k] == (values[0][k] + values[2][k]) + (values[1][k] + values[3][k]));
}

}  // namespace
}  // namespace sinter::detail::testing
