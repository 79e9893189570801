// SPDX-License-Identifier: Apache-2.0
// Costs of computing and communicating. With them the simulation of all ranks (proof/simulate.hpp)
// also gives the time of a step.
#pragma once
#include <bit>

#include "sinter/plan/plan_view.hpp"
#include "sinter/program/traffic.hpp"

namespace sinter::detail {

/// How long a message from one rank to another takes, for forecasts.
struct LinkCost {
  double latency;    ///< seconds for a message without bytes (alpha in cost models)
  double bandwidth;  ///< bytes per second sent while receiving as many (1 / beta)
};

/// Returns the mean number of bytes that each of `ranks` ranks sends: the minimum of any algorithm,
/// which rings, or halving and doubling, reach. An all-reduce takes 2 (n - 1) / n of the array.
/// Half of that takes a reduce-scatter, all-gather, all-to-all, broadcast or reduce.
constexpr double sent_bytes(const Traffic& traffic, int ranks) {
  const double part = double(traffic.bytes()) * (ranks - 1) / ranks;
  switch (traffic.operation) {
    case Operation::all_reduce:
      return 2 * part;
    case Operation::reduce_scatter:
    case Operation::all_gather:
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::all_to_all:
      return part;
    case Operation::send:
      return double(traffic.bytes());
    case Operation::receive:
    case Operation::barrier:
      break;
  }
  return 0;
}

/// Returns the minimum number of messages that a rank sends and receives in sequence. A
/// reduce-scatter or all-gather takes log2(n), rounded up, by halving and doubling (Thakur et al.
/// 2005), and an all-reduce twice that. An all-to-all takes n - 1, as no byte is relayed.
constexpr int rounds_of(Operation operation, int ranks) {
  if (ranks == 1) return 0;
  const int each = std::bit_width(unsigned(ranks - 1));
  switch (operation) {
    case Operation::all_reduce:
    case Operation::barrier:
      return 2 * each;
    case Operation::reduce_scatter:
    case Operation::all_gather:
    case Operation::broadcast:
    case Operation::reduce:
      return each;
    case Operation::all_to_all:
      return ranks - 1;
    case Operation::send:
    case Operation::receive:
      break;
  }
  return 1;
}

/// Returns the seconds of a transfer between `ranks` ranks, once all have started it.
constexpr double transfer_seconds(const Traffic& traffic, int ranks, const LinkCost& link) {
  Traffic sent = traffic;
  if (sent.operation == Operation::receive) sent.operation = Operation::send;
  return rounds_of(traffic.operation, ranks) * link.latency +
         sent_bytes(sent, ranks) / link.bandwidth;
}

/// How fast a device computes, for forecasts.
struct DeviceCost {
  double flops;  ///< operations per second of its matmuls
  double bytes;  ///< bytes per second read or written in its memory
};

/// Returns a rank's seconds for each instruction of the training program, each time it runs, in
/// full micro-batches, without transfers. A layer call takes the longer of two times: its
/// operations at the rate of matmuls, or its operands, parameters and saved numbers in memory. An
/// instruction without layer calls takes what it touches in memory. These are lower bounds, which
/// kernels approach more or less closely.
[[nodiscard]] std::vector<double> computing_seconds(const PlanView& plan, const DeviceCost& device);

}  // namespace sinter::detail
