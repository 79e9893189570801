// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

class Machine;
struct Bound;

namespace detail {
/// A communicator through which a machine's instructions speak, and which refuses what their kinds do not
/// state (Kind::traffic): the proof that ranks fit together is about what is stated. Between instructions
/// it lets everything pass.
class TrafficCheck final : public Communicator {
  Communicator& ranks_;
  const Machine& machine_;
  const Bound* bound_ = nullptr;  // the instruction at work
  TouchList touched_;             // by it
  TrafficList stated_;            // by it
  std::size_t next_ = 0;          // so much of that has come

 public:
  /// requires  both outlive it
  TrafficCheck(Communicator& ranks, const Machine& machine);

  /// Begins an instruction.
  void begin(const Bound& instruction, int iteration, int iterations);
  /// Ends it.
  /// throws    Error if it has not done all that its kind states
  void end();

  int rank() const override { return ranks_.rank(); }
  int ranks() const override { return ranks_.ranks(); }
  /// throws    Error if the instruction at work does not state it; so do start(), sum() and barrier()
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
