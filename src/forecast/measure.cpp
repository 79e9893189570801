// SPDX-License-Identifier: Apache-2.0
#include "sinter/forecast/measure.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>

#include "sinter/comm/shared_memory.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/elementwise.hpp"

namespace sinter::detail {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The median of the seconds of a sum, from when both ranks have come.
double seconds_of_sum(Communicator& end, std::vector<float>& values, int times) {
  std::vector<double> seconds;
  for (int k = 0; k < times; ++k) {
    end.barrier();
    const auto begin = Clock::now();
    end.start_sum(values.data(), std::int64_t(values.size()));
    end.wait(values.data());
    seconds.push_back(since(begin));
  }
  std::ranges::nth_element(seconds, seconds.begin() + times / 2);
  return seconds[std::size_t(times / 2)];
}

}  // namespace

LinkCost measured_link(Communicator& end) {
  std::vector<float> one(1), many(std::size_t(4) << 20);
  seconds_of_sum(end, many, 1);  // whatever comes first is slow
  const double few = seconds_of_sum(end, one, 200);
  const double all = seconds_of_sum(end, many, 5);
  const Traffic sum{Operation::all_reduce, Traffic::both, {}, 0, std::int64_t(many.size())};
  return {few / rounds_of(sum.operation, 2), sent_bytes(sum, 2) / std::max(all - few, 1e-9)};
}

LinkCost measured_link_of_this_host() {
  const std::string id = shared_memory_world_id();
  std::exception_ptr failure;
  const auto join = [&](int rank) {
    const auto end = shared_memory_rank({.rank = rank, .ranks = 2, .id = id});
    return measured_link(*end);
  };
  const auto be_the_other = [&] {
    try {
      (void)join(1);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  std::thread other;
  try {
    other = std::thread(be_the_other);
  } catch (const std::system_error& error) {
    throw Error(std::string("a thread to measure a link with cannot be started: ") + error.what() +
                ".");
  }
  LinkCost link{};
  try {
    link = join(0);
  } catch (...) {
    other.join();
    throw;
  }
  other.join();
  if (failure) std::rethrow_exception(failure);
  return link;
}

double measured_memory_rate(kernel::Stream& stream, double seconds) {
  constexpr std::int64_t elements = std::int64_t(16) << 20;  // 64 MiB
  DeviceMemory from(elements * 4), to(elements * 4);
  const auto once = [&] {
    const auto begin = Clock::now();
    kernel::copy(stream, reinterpret_cast<const float*>(from.bytes().data()),
                 reinterpret_cast<float*>(to.bytes().data()), elements);
    (void)OnHost(stream, to.bytes().data(), 4, Access::read);  // which waits for it
    return since(begin);
  };
  const auto begin = Clock::now();
  (void)once();  // touches the memory
  double best = once();
  for (int k = 2; k < 6 || since(begin) + best < seconds; ++k) best = std::min(best, once());
  return 2 * 4 * double(elements) / best;
}

namespace {

/// A file, and memory that is fetched from it and stored there piece by piece.
class OffloadProbe {
  static constexpr std::int64_t piece = 4 << 20, pieces = 16;
  OffloadMemory offload;
  DeviceMemory fetched{piece}, stored{piece};

 public:
  OffloadProbe(kernel::Stream& stream, const std::string& folder)
      : offload(stream, pieces * piece, 2, folder) {
    offload.open();
    offload.start_fetch(0, stored.bytes().data(), piece);  // which touches it
    offload.wait_for_fetches();
  }
  /// The seconds that it takes to move a byte each way that is asked for, from so long.
  double seconds_of_byte(bool fetches, bool stores, double seconds) {
    const auto begin = Clock::now();
    std::int64_t moved = 0;
    for (; moved < 2 * pieces * piece && (moved == 0 || since(begin) < seconds); moved += piece) {
      const std::int64_t at = moved % (pieces * piece);
      const std::int64_t half = pieces * piece / 2, other = (at + half) % (2 * half);
      if (fetches) offload.start_fetch(at, fetched.bytes().data(), piece);
      if (stores) offload.start_store(stored.bytes().data(), other, piece);
      if (fetches) offload.wait_for_fetches();
      if (stores) offload.wait_for_stores();
    }
    return std::max(since(begin), 1e-9) / double(moved);
  }
};

}  // namespace

OffloadCost measured_offload_cost(kernel::Stream& stream, const std::string& folder,
                                  double seconds) {
  OffloadProbe probe(stream, folder);
  (void)probe.seconds_of_byte(false, true, seconds);  // so that there is something to fetch
  const double store = probe.seconds_of_byte(false, true, seconds);
  const double fetch = probe.seconds_of_byte(true, false, seconds);
  const double both = probe.seconds_of_byte(true, true, seconds);
  // Both run at a part of their rates until the shorter one is done; the longer one then runs at
  // its full rate.
  const double shorter = std::min(fetch, store), beside = both - std::max(fetch, store) + shorter;
  return {
      .fetch = 1 / fetch, .store = 1 / store, .beside = shorter < beside ? shorter / beside : 1};
}

}  // namespace sinter::detail
