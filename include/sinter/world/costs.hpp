// SPDX-License-Identifier: Apache-2.0
// What it costs a rank to compute, and ranks to speak to each other: with these the simulation of all
// ranks (proof/simulate.hpp) also gives the time of a step.
#pragma once
#include <bit>

#include "sinter/plan/plan_view.hpp"
#include "sinter/program/traffic.hpp"

namespace sinter {

/// What it costs to send from one rank to another.
struct LinkCost {
  double latency;  ///< seconds until a message without bytes has come (the alpha of models of cost)
  double bandwidth;  ///< bytes a second that a rank sends while it receives as many (one over beta)
};

/// The bytes that a rank sends, the mean over so many that take part: as much as no algorithm can do
/// without, and rings or halving and doubling need. Of an all-reduce 2 (n - 1) / n of the array, of what is
/// half of one, of an all-to-all, and of a broadcast or a reduce, half of that.
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

/// How many messages a rank sends and receives one after the other, at least: of a reduce-scatter or an
/// all-gather log2(n), rounded up, as by halving and doubling (Thakur et al. 2005); of an all-reduce twice as
/// many; of an all-to-all n - 1, as no byte takes a way round.
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

/// The seconds of a transfer between so many ranks, once all have come.
constexpr double transfer_seconds(const Traffic& traffic, int ranks, const LinkCost& link) {
  Traffic sent = traffic;
  if (sent.operation == Operation::receive) sent.operation = Operation::send;
  return rounds_of(traffic.operation, ranks) * link.latency +
         sent_bytes(sent, ranks) / link.bandwidth;
}

/// What it costs a device to compute.
struct DeviceCost {
  double flops;  ///< operations a second, of its matmuls
  double bytes;  ///< a second, read or written in its memory
};

/// The seconds that each instruction of the program of training takes a rank, each time it runs, in full
/// micro-batches, without transfers. A layer call takes as long as its operations at the rate of matmuls,
/// or its operands, parameters and saved numbers in memory, whichever is longer; an instruction without
/// layer calls, as long as what it touches in memory. So it is a bound, which kernels come more or less near.
[[nodiscard]] std::vector<double> computing_seconds(const PlanView& plan, const DeviceCost& device);

}  // namespace sinter
