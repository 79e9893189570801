// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

class Machine;
struct Bound;

namespace detail {
/// The communicator of a machine's instructions, which rejects transfers that their kinds do not state
/// (Kind::traffic), because the proof that ranks fit together is about stated traffic. Between
/// instructions it passes everything on.
class TrafficCheck final : public Communicator {
  Communicator& ranks_;
  const Machine& machine_;
  const Bound* bound_ = nullptr;  // the instruction at work
  TouchList touched_;             // by it
  TrafficList stated_;            // by it
  std::size_t next_ = 0;          // number of these that have come

 public:
  /// requires  ranks and machine outlive it
  TrafficCheck(Communicator& ranks, const Machine& machine);

  /// Begins an instruction.
  void begin(const Bound& instruction, int iteration, int iterations);
  /// Ends it.
  /// throws    Error if the instruction has not done all that its kind states
  void end();

  int rank() const override { return ranks_.rank(); }
  int ranks() const override { return ranks_.ranks(); }
  /// throws    Error if the current instruction does not state it; also start(), sum() and barrier()
  void wait(const void* data) override;
  void sum(double* values, int count) override;
  void barrier() override;
  void abort() noexcept override { ranks_.abort(); }

 private:
  void start_transfer(const Transfer& transfer) override;
  std::unique_ptr<Communicator> make_group(std::span<const int> members, int) override {
    if (bound_) refuse("makes a group of ranks, through which nothing is checked");
    return ranks_.group(members);
  }
  const Traffic* take(Traffic::Does does, const void* data);
  const void* address(const Traffic& traffic) const;
  [[noreturn]] void refuse(const std::string& what) const;
};
}  // namespace detail

}  // namespace sinter
